"""Model weights: a locked-down bucket with a role per model that reads its own prefix, or a file system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.file_system import CSI, Handles, Place, file_system
from components.handles import NetworkHandle
from specs import iam
from specs.engine_pod import service_account
from specs.names import Names
from specs.network import tags
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.weights import model_prefix


@dataclass(frozen=True, kw_only=True)
class WeightsArgs:
    """`ready`: what an add-on needs (cluster, nodes and agent); `namespaces` by name, which wait for it: a model's
    association waits for the model's namespace."""

    settings: Settings
    names: Names
    network: NetworkHandle
    security_group_id: pulumi.Input[str]
    namespaces: Mapping[str, pulumi.Resource]
    ready: Sequence[pulumi.Resource]


class Weights(pulumi.ComponentResource):
    """The bucket of backend s3 (`bucket_name`, else None) and the readers' roles, or the file system of backends
    efs and fsx (`volume`, its handles, else None).

    `ready` is what a model's engine needs before it starts, by the model's name: its own reader and no other's, or the
    edges of a stack grow in the square of its models.
    """

    bucket_name: str | None
    volume: Handles | None
    ready: Mapping[str, Sequence[pulumi.Resource]]

    def __init__(self, name: str, args: WeightsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("headroom:index:Weights", name, None, opts)
        self._args, self._tags = args, tags(args.names)
        self._own = pulumi.ResourceOptions(parent=self)
        self._name = args.names.bucket(args.settings.weights.bucket_name, args.settings.region)
        self.bucket_name, self.volume = None, None
        models = args.settings.active_models
        self.ready = {model.name: [] for model in models}
        if args.settings.weights.backend == "s3":
            key = self._key() if args.settings.weights.kms else None
            self.bucket_name = self._bucket(key)
            self.ready = {model.name: [self._reader(model)] for model in models}
        elif args.settings.weights.backend in CSI:
            self.volume, ready = self._file_system()
            self.ready = {model.name: ready for model in models}
        self.register_outputs({"bucketName": self.bucket_name})

    def _file_system(self) -> tuple[Handles, Sequence[pulumi.Resource]]:
        key = self._key() if self._args.settings.weights.kms else None
        place = Place(
            settings=self._args.settings,
            names=self._args.names,
            private_subnet_ids=self._args.network.private_subnet_ids,
            security_group_id=self._args.security_group_id,
            key_arn=key.arn if key else None,
            kept=self._kept(),
            own=self._own,
            after=pulumi.ResourceOptions(parent=self, depends_on=list(self._args.ready)),
        )
        return file_system(place)

    def _key(self) -> aws.kms.Key:
        key = aws.kms.Key(
            "weights",
            description=f"Model weights of {self._args.names.cluster}",
            enable_key_rotation=True,
            deletion_window_in_days=30,
            tags=self._tags,
            opts=self._kept(),
        )
        aws.kms.Alias(
            "weights",
            name=self._args.names.weights_alias,
            target_key_id=key.key_id,
            opts=self._own,
        )
        return key

    def _kept(self) -> pulumi.ResourceOptions:
        """Data outlives the stack where the settings say so."""
        retain = self._args.settings.weights.bucket_retain
        return pulumi.ResourceOptions(parent=self, protect=retain, retain_on_delete=retain)

    def _guarding(self, after: Sequence[pulumi.Resource] = ()) -> pulumi.ResourceOptions:
        """What guards a bucket stays as long as the bucket: destroyed, it would leave kept data in the open."""
        retain = self._args.settings.weights.bucket_retain
        return pulumi.ResourceOptions(parent=self, retain_on_delete=retain, depends_on=list(after))

    def _bucket(self, key: aws.kms.Key | None) -> str:
        retain = self._args.settings.weights.bucket_retain
        bucket = aws.s3.Bucket(
            "weights", bucket=self._name, force_destroy=not retain, tags=self._tags, opts=self._kept()
        )
        block = aws.s3.BucketPublicAccessBlock(
            "weights",
            bucket=bucket.id,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=self._guarding(),
        )
        aws.s3.BucketOwnershipControls(
            "weights",
            bucket=bucket.id,
            rule={"object_ownership": "BucketOwnerEnforced"},
            opts=self._guarding(),
        )
        aws.s3.BucketVersioning(
            "weights",
            bucket=bucket.id,
            versioning_configuration={"status": "Enabled"},
            opts=self._guarding(),
        )
        encryption: aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgsDict = (
            {"sse_algorithm": "aws:kms", "kms_master_key_id": key.arn} if key else {"sse_algorithm": "AES256"}
        )
        aws.s3.BucketServerSideEncryptionConfiguration(
            "weights",
            bucket=bucket.id,
            rules=[
                {"apply_server_side_encryption_by_default": encryption, "bucket_key_enabled": key is not None}
            ],
            opts=self._guarding(),
        )
        aws.s3.BucketLifecycleConfiguration(
            "weights",
            bucket=bucket.id,
            rules=[
                {
                    "id": "abandoned-uploads",
                    "status": "Enabled",
                    "filter": {"prefix": ""},
                    "abort_incomplete_multipart_upload": {"days_after_initiation": 7},
                    "noncurrent_version_expiration": {"noncurrent_days": 30},
                }
            ],
            opts=self._guarding(),
        )
        aws.s3.BucketPolicy(
            "weights",
            bucket=bucket.id,
            policy=pulumi.Output.json_dumps(iam.tls_only(self._name)),
            opts=self._guarding([block]),
        )
        return self._name

    def _reader(self, model: Model) -> pulumi.Resource:
        role = aws.iam.Role(
            f"{model.name}-weights",
            name=self._args.names.role(f"weights-{model.name}"),
            assume_role_policy=pulumi.Output.json_dumps(
                iam.pod_identity_trust(self._args.names, model.namespace, service_account(model))
            ),
            tags=self._tags,
            opts=self._own,
        )
        names, settings = self._args.names, self._args.settings
        document = iam.weights_reader(
            self._name,
            model_prefix(model),
            settings.region,
            names.weights_alias if settings.weights.kms else None,
        )
        policy = aws.iam.RolePolicy(
            f"{model.name}-weights", role=role.name, policy=pulumi.Output.json_dumps(document), opts=self._own
        )
        return aws.eks.PodIdentityAssociation(
            f"{model.name}-weights",
            cluster_name=self._args.names.cluster,
            namespace=model.namespace,
            service_account=service_account(model),
            role_arn=role.arn,
            tags=self._tags,
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[policy, self._args.namespaces[model.namespace]]
            ),
        )
