"""Pulumi Deployments: who may deploy which stack from where and when, and the policies that guard each one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pulumi
import pulumi_pulumiservice as service

from components.policy_source import staged
from specs.deployments import duration, git_ref, group_name, path_filters
from specs.names import PROJECT
from specs.policy_pack import PACK, known_policies, stack_numbers, version_tag
from specs.settings import deployments as wanted
from specs.settings.deployments import AwsAccess, DeployedStack


@dataclass(frozen=True, kw_only=True)
class DeploymentsArgs:
    """`project` is the folder of Pulumi.yaml, where the pack is staged for publishing."""

    deployments: wanted.Deployments
    project: Path = PACK.parent


class Deployments(pulumi.ComponentResource):
    """Settings and schedules of each stack, the published pack and one blocking policy group an environment.

    The access token of Pulumi Cloud is the provider's own business (PULUMI_ACCESS_TOKEN or `pulumi login`); AWS is
    reached with an OIDC token. Nothing here holds a secret.
    """

    def __init__(self, name: str, args: DeploymentsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("headroom:index:Deployments", name, None, opts)
        self._wanted, self._project = args.deployments, args.project
        self._own = pulumi.ResourceOptions(parent=self)
        guarded = [stack for stack in self._wanted.stacks if stack.policies]
        pack = self._pack() if guarded else None
        for stack in self._wanted.stacks:
            self._stack(stack, self._group(stack, pack) if pack and stack.policies else None)
        self.register_outputs({"policyPack": version_tag() if guarded else None})

    def _stack(self, stack: DeployedStack, group: service.PolicyGroup | None) -> None:
        # A stack is not deployed before its policies guard it.
        after = pulumi.ResourceOptions(parent=self, depends_on=[group] if group else [])
        settings = self._settings(stack, after)
        self._schedules(stack, pulumi.ResourceOptions(parent=self, depends_on=[settings]))

    def _settings(self, stack: DeployedStack, opts: pulumi.ResourceOptions) -> service.DeploymentSettings:
        section = self._wanted
        return service.DeploymentSettings(
            stack.name,
            organization=section.organization,
            project=PROJECT,
            stack=stack.name,
            agent_pool_id=section.agent_pool,
            source_context={"git": {"branch": git_ref(stack), "repo_dir": section.directory}},
            vcs={
                "provider": section.provider,
                "repository": section.repository,
                "deploy_commits": stack.deploy_commits,
                "preview_pull_requests": stack.preview_pull_requests,
                "pull_request_template": False,
                "paths": list(path_filters(section, stack)),
            },
            operation_context={
                "oidc": {"aws": _access(stack.aws)},
                "options": {"skip_intermediate_deployments": True},
            },
            cache_options={"enable": True},
            opts=opts,
        )

    def _schedules(self, stack: DeployedStack, opts: pulumi.ResourceOptions) -> None:
        place = {"organization": self._wanted.organization, "project": PROJECT, "stack": stack.name}
        if stack.drift is not None:
            service.DriftSchedule(
                f"{stack.name}-drift",
                **place,
                schedule_cron=stack.drift.cron,
                auto_remediate=stack.drift.auto_remediate,
                opts=opts,
            )
        if stack.night is not None:
            service.DeploymentSchedule(
                f"{stack.name}-night",
                **place,
                schedule_cron=stack.night.destroy,
                pulumi_operation=service.PulumiOperation.DESTROY,
                opts=opts,
            )
        if stack.night is not None and stack.night.up is not None:
            service.DeploymentSchedule(
                f"{stack.name}-morning",
                **place,
                schedule_cron=stack.night.up,
                pulumi_operation=service.PulumiOperation.UPDATE,
                opts=opts,
            )
        if stack.ttl is not None:
            service.TtlSchedule(
                f"{stack.name}-ttl",
                **place,
                timestamp=stack.ttl.at,
                delete_after_destroy=stack.ttl.delete_stack,
                opts=opts,
            )

    def _pack(self) -> service.PolicyPack:
        return service.PolicyPack(
            "policies",
            organization=self._wanted.organization,
            name=PROJECT,
            version_tag=version_tag(),
            source_path=staged(self._project),
            policies=[_described(policy) for policy in known_policies()],
            opts=self._own,
        )

    def _group(self, stack: DeployedStack, pack: service.PolicyPack) -> service.PolicyGroup:
        numbers = cast(Mapping[str, Any], stack_numbers(stack.name))
        return service.PolicyGroup(
            stack.name,
            name=group_name(stack),
            organization_name=self._wanted.organization,
            entity_type="stacks",
            mode="preventative",  # the provider's default, audit, only reports
            stacks=[{"name": stack.name, "routing_project": PROJECT}],
            policy_packs=[{"name": pack.name, "version_tag": pack.version_tag, "config": numbers}],
            opts=self._own,
        )


def _access(access: AwsAccess) -> service.AWSOIDCConfigurationArgsDict:
    return {
        "role_arn": access.role_arn,
        "session_name": access.session_name,
        "duration": duration(access.duration_seconds),
        "policy_arns": list(access.policy_arns),
    }


def _described(policy: Mapping[str, object]) -> service.PolicyPackPolicyInputArgsDict:
    return {
        "name": str(policy["name"]),
        "description": str(policy["description"]),
        "enforcement_level": str(policy["enforcementLevel"]),
        "severity": str(policy["severity"]),
        "config_schema": cast(Mapping[str, Any], policy["configSchema"]),
    }
