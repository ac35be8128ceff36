"""retain-data: one `pulumi destroy` in the wrong terminal, and the weights are gone.

The engine tells a policy whether a resource is protected but not whether it is retained on deletion (Analyzer
protocol, pulumi 3.274), so protection is what is asked for, and nothing that empties a bucket first.
"""

from pulumi_policy import Severity

from policies.buckets import BUCKETS
from policies.configuration import Property
from policies.plain import shown
from policies.rule import resource_rule
from policies.scene import Scene
from policies.verdict import Config, Finding, Verdict, finding

_STORES = (
    *BUCKETS,
    "aws:s3/directoryBucket:DirectoryBucket",
    "aws:efs/fileSystem:FileSystem",
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
)


def judge(scene: Scene, config: Config) -> Verdict:
    """Each store of data is protected, and no destroy empties it."""
    stores = [resource for resource in scene.resources if resource.type in _STORES]
    if not stores or config["require"] is not True:
        return None
    findings: list[Finding] = []
    for store in stores:
        if not store.protect:
            fix = "set protect=True and retain_on_delete=True on it (headroom:weights bucketRetain: true)"
            findings.append(finding(store, "it is not protected", "protect", fix))
        if store.get("forceDestroy") not in (None, False):
            found = f"forceDestroy is {shown(store.get('forceDestroy'))}"
            findings.append(finding(store, found, "false", "a bucket with objects must not be deleted"))
    return findings


POLICY = resource_rule(
    "retain-data",
    "Where required, buckets and file systems are protected from deletion.",
    Severity.HIGH,
    judge,
    {"require": Property("flag", True, "whether stores of data must be protected")},
)
