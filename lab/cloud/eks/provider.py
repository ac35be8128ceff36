"""Serves the recorded pulumi-eks plugin."""
# ruff: noqa: N802, ARG002 - method names and signatures are those of the protocol

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2

from lab.cloud.asked import Asked
from lab.cloud.eks import cluster
from lab.cloud.eks.monitor import Monitor
from lab.cloud.journal import Journal, Refusal
from lab.cloud.provider import RecordedProvider
from lab.cloud.wire import Properties, to_python, to_struct

_VERSIONS = {"aws": version("pulumi-aws"), "kubernetes": version("pulumi-kubernetes")}
"""Children ask for the plugins that the program itself uses, so that one default provider serves both."""


class EksBook:
    """The package has components only: nothing of it is created on its own."""

    package = "eks"

    def __init__(self) -> None:
        self.version = version("pulumi-eks")

    def region(self) -> str:
        return ""

    def configure(self, settings: Mapping[str, Any]) -> None:
        del settings

    def forced(self, type_: str) -> frozenset[str]:
        del type_
        return frozenset()

    def deletes_first(self, type_: str, old: Properties, new: Properties) -> bool:
        del type_, old, new
        return False

    def same(self, old: object, new: object) -> bool:
        return old == new

    def check(self, asked: Asked, before: Properties) -> tuple[Properties, list[Refusal]]:
        del before
        return asked.inputs, []

    def answer(self, asked: Asked) -> tuple[str, Properties]:
        return asked.name, {}

    def keeps(self, asked: Asked) -> None:
        del asked

    def known_early(self, type_: str) -> frozenset[str]:
        del type_
        return frozenset()


class EksProvider(RecordedProvider):
    """Builds `eks:index:Cluster`; every other component of the package is refused with the way out."""

    def __init__(self, journal: Journal, *, collecting: bool) -> None:
        super().__init__(EksBook(), journal, collecting=collecting)

    def Handshake(self, request: Any, context: Any) -> Any:
        return provider_pb2.ProviderHandshakeResponse(
            accept_secrets=True, accept_resources=True, accept_outputs=True
        )

    def Configure(self, request: Any, context: Any) -> Any:
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, acceptResources=True, acceptOutputs=True, supportsPreview=True
        )

    def Construct(self, request: Any, context: Any) -> Any:
        if request.type != "eks:index:Cluster":
            self._refuse_component(request, "use the resources of pulumi_aws.eks instead", context)
        monitor = Monitor(request.monitorEndpoint, request.providers, _VERSIONS)
        try:
            return self._cluster(monitor, request)
        except cluster.UnrecordedError as error:
            self._refuse_component(request, str(error), context)
        except grpc.RpcError as error:
            context.abort(error.code(), error.details())
        finally:
            monitor.close()

    def _cluster(self, monitor: Monitor, request: Any) -> Any:
        args = to_python(request.inputs)
        component = monitor.component(
            request.type, request.name, request.parent, request.dependencies, request.aliases
        )
        state = cluster.construct(monitor, component, request.name, args)
        monitor.outputs(component, state)
        return provider_pb2.ConstructResponse(urn=component.urn, state=to_struct(state))

    def _refuse_component(self, request: Any, fix: str, context: Any) -> None:
        refusal = Refusal(
            urn="",
            type=request.type,
            name=request.name,
            path="",
            given=f"{request.type} {request.name}",
            allowed="eks:index:Cluster as the recorded cloud knows it",
            fix=fix,
        )
        self.journal.refuse(refusal)
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, refusal.reason)
