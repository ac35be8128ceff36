"""S3 with the settings that hang on a bucket, KMS, EFS, FSx and ECR."""

from lab.cloud.asked import ACCOUNT, Asked
from lab.cloud.aws.kind import Kind, Naming, address, by, prefixed
from lab.cloud.wire import Properties


def _bucket(asked: Asked, identity: str) -> Properties:
    return {
        "arn": asked.arn("s3", identity, regional=False, account=False),
        "bucketDomainName": f"{identity}.s3.amazonaws.com",
        "bucketRegion": asked.region,
        "bucketRegionalDomainName": f"{identity}.s3.{asked.region}.amazonaws.com",
        "hostedZoneId": "Z3AQBSTGFYJSTF",
        "forceDestroy": False,
        "objectLockEnabled": False,
        "requestPayer": "BucketOwner",
    }


def _object(asked: Asked, identity: str) -> Properties:
    del identity
    path = f"{asked.text('bucket')}/{asked.text('key')}"
    return {
        "arn": asked.arn("s3", path, regional=False, account=False),
        "versionId": asked.hex(32, "version"),
    }


def _key(asked: Asked, identity: str) -> Properties:
    return {
        "arn": asked.arn("kms", f"key/{identity}"),
        "keyId": identity,
        "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
        "keyUsage": "ENCRYPT_DECRYPT",
        "isEnabled": True,
        "multiRegion": False,
        "rotationPeriodInDays": 365,
        "description": "",
    }


def _uuid(asked: Asked) -> str:
    drawn = asked.hex(32)
    return "-".join((drawn[:8], drawn[8:12], drawn[12:16], drawn[16:20], drawn[20:]))


def _alias(asked: Asked, identity: str) -> Properties:
    target = asked.text("targetKeyId")
    return {
        "arn": asked.arn("kms", identity),
        "targetKeyArn": target if target.startswith("arn:") else asked.arn("kms", f"key/{target}"),
    }


def _efs(asked: Asked, identity: str) -> Properties:
    return {
        "arn": asked.arn("elasticfilesystem", f"file-system/{identity}"),
        "dnsName": f"{identity}.efs.{asked.region}.amazonaws.com",
        "ownerId": ACCOUNT,
        "numberOfMountTargets": 0,
        "creationToken": asked.hex(26, "token"),
        "performanceMode": "generalPurpose",
        "name": str(asked.object("tags").get("Name", "")),
    }


def _mount(asked: Asked, identity: str) -> Properties:
    del identity
    system = asked.text("fileSystemId")
    return {
        "availabilityZoneName": f"{asked.region}a",
        "dnsName": f"{system}.efs.{asked.region}.amazonaws.com",
        "fileSystemArn": asked.arn("elasticfilesystem", f"file-system/{system}"),
        "ipAddress": address(asked, 10, 0),
        "networkInterfaceId": f"eni-0{asked.hex(16, 'eni')}",
        "ownerId": ACCOUNT,
    }


def _lustre(asked: Asked, identity: str) -> Properties:
    return {
        "arn": asked.arn("fsx", f"file-system/{identity}"),
        "dnsName": f"{identity}.fsx.{asked.region}.amazonaws.com",
        "mountName": asked.hex(8, "mount"),
        "networkInterfaceIds": [f"eni-0{asked.hex(16, 'eni')}"],
        "ownerId": ACCOUNT,
        "vpcId": f"vpc-0{asked.hex(16, 'vpc')}",
    }


def _of_bucket() -> Kind:
    return Kind(identity=by("bucket"), forced="bucket expectedBucketOwner", tagged=False, deletes_first=True)


KINDS: dict[str, Kind] = {
    "aws:s3/bucket:Bucket": Kind(
        identity=by("bucket"),
        adds=_bucket,
        forced="bucket bucketPrefix objectLockEnabled",
        naming=Naming(key="bucket", limit=63, lower=True),
    ),
    **{
        f"aws:s3/{name[0].lower()}{name[1:]}:{name}": _of_bucket()
        for name in (
            "BucketVersioning",
            "BucketPublicAccessBlock",
            "BucketPolicy",
            "BucketServerSideEncryptionConfiguration",
            "BucketOwnershipControls",
            "BucketLifecycleConfiguration",
            "BucketLogging",
            "BucketCorsConfiguration",
        )
    },
    "aws:s3/bucketObjectv2:BucketObjectv2": Kind(
        identity=by("bucket", "key", between="/"), adds=_object, forced="bucket key"
    ),
    "aws:s3/bucketObject:BucketObject": Kind(
        identity=by("bucket", "key", between="/"), adds=_object, forced="bucket key"
    ),
    "aws:kms/key:Key": Kind(
        identity=_uuid,
        adds=_key,
        forced="customerMasterKeySpec keyUsage customKeyStoreId multiRegion xksKeyId",
    ),
    "aws:kms/alias:Alias": Kind(
        identity=by("name"),
        adds=_alias,
        forced="name namePrefix",
        naming=Naming(key="name", limit=256, prefix="alias/"),
        tagged=False,
    ),
    "aws:efs/fileSystem:FileSystem": Kind(
        identity=prefixed("fs"),
        adds=_efs,
        forced="creationToken performanceMode encrypted kmsKeyId availabilityZoneName",
    ),
    "aws:efs/mountTarget:MountTarget": Kind(
        identity=prefixed("fsmt"), adds=_mount, forced="fileSystemId subnetId ipAddress", tagged=False
    ),
    "aws:efs/accessPoint:AccessPoint": Kind(
        identity=prefixed("fsap"),
        adds=lambda asked, identity: {
            "arn": asked.arn("elasticfilesystem", f"access-point/{identity}"),
            "fileSystemArn": asked.arn("elasticfilesystem", f"file-system/{asked.text('fileSystemId')}"),
            "ownerId": ACCOUNT,
        },
        forced="fileSystemId posixUser rootDirectory",
    ),
    "aws:efs/backupPolicy:BackupPolicy": Kind(
        identity=by("fileSystemId"), forced="fileSystemId", tagged=False
    ),
    "aws:efs/fileSystemPolicy:FileSystemPolicy": Kind(
        identity=by("fileSystemId"), forced="fileSystemId", tagged=False
    ),
    "aws:fsx/lustreFileSystem:LustreFileSystem": Kind(
        identity=prefixed("fs"),
        adds=_lustre,
        forced="subnetIds securityGroupIds deploymentType storageType kmsKeyId exportPath importPath backupId"
        " driveCacheType importedFileChunkSize copyTagsToBackups efaEnabled",
    ),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": Kind(
        identity=prefixed("dra"),
        adds=lambda asked, identity: {
            "arn": asked.arn("fsx", f"association/{asked.text('fileSystemId')}/{identity}"),
            "associationId": identity,
        },
        forced="fileSystemId fileSystemPath dataRepositoryPath batchImportMetaDataOnCreate",
    ),
    "aws:ecr/repository:Repository": Kind(
        identity=by("name"),
        adds=lambda asked, identity: {
            "arn": asked.arn("ecr", f"repository/{identity}"),
            "registryId": ACCOUNT,
            "repositoryUrl": f"{ACCOUNT}.dkr.ecr.{asked.region}.amazonaws.com/{identity}",
        },
        forced="name encryptionConfigurations",
        naming=Naming(key="name", limit=256, lower=True),
    ),
    "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": Kind(
        identity=by("ecrRepositoryPrefix"),
        adds=lambda asked, identity: {"registryId": ACCOUNT},  # noqa: ARG005
        forced="ecrRepositoryPrefix upstreamRegistryUrl",
        tagged=False,
    ),
}
