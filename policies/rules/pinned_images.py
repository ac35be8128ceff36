"""pinned-images: a tag that moves makes two replicas of one Deployment different programs.

`latest` drifts between a node and the next and can't be rolled back; an AMI alias `@latest` replaces every
node on each AMI release (Karpenter documentation: "not recommended for production").
"""

from pulumi_policy import Severity

from policies.configuration import Property
from policies.declared import KubeObject, Resource
from policies.images import loose, of_pod
from policies.plain import Plain, Unknown, dig, items, shown, walk
from policies.rule import resource_rule
from policies.scene import Scene
from policies.verdict import Config, Finding, Verdict, finding


def judge(scene: Scene, config: Config) -> Verdict:
    """Images of all pods, of Helm values as far as they show, and machine images."""
    digest = config["requireDigest"] is True
    releases = [resource for resource in scene.resources if resource.type == "kubernetes:helm.sh/v3:Release"]
    classes = scene.kind("karpenter.k8s.aws", "EC2NodeClass")
    templates = scene.kind("", "PodTemplate")
    if not (scene.workloads or releases or classes or templates):
        return None
    findings: list[Finding] = []
    for workload in scene.workloads:
        for pods in workload.pods:
            findings += _pod(workload.obj, pods.template, digest)
    for template in templates:
        findings += _pod(template, template.get("template"), digest)
    for release in releases:
        findings += _values(release)
    for node_class in classes:
        findings += _machine(node_class)
    return list(dict.fromkeys(findings))


def _pod(obj: KubeObject, pod: Plain, digest: bool) -> list[Finding]:
    findings: list[Finding] = []
    allowed = "a tag and a digest" if digest else "a fixed tag or a digest"
    fix = "pin name:tag@sha256:..." if digest else "name a release tag"
    for where, reference in of_pod(pod):
        if reference is None:
            continue
        if not isinstance(reference, str):
            found = (
                f"{where}: its image is not known yet"
                if isinstance(reference, Unknown)
                else f"{where}: no image"
            )
            findings.append(finding(obj, found, allowed, "write the image as a plain string"))
            continue
        wrong = loose(reference, digest=digest)
        if wrong is not None:
            findings.append(finding(obj, f"{where}: image {shown(reference)} has {wrong}", allowed, fix))
    return findings


def _values(release: Resource) -> list[Finding]:
    """`tag: latest` and `image: name:latest` in the values of a release."""
    return [
        finding(release, f"values.{'.'.join(path)} is {shown(value)}", "a fixed tag", "name a release tag")
        for path, value in walk(release.get("values"))
        if path
        and isinstance(value, str)
        and ((path[-1] == "tag" and value == "latest") or (path[-1] == "image" and value.endswith(":latest")))
    ]


def _machine(node_class: KubeObject) -> list[Finding]:
    aliases = [
        dig(term, "alias")
        for term in items(node_class.get("spec", "amiSelectorTerms"))
        if isinstance(term, dict)
    ]
    return [
        finding(
            node_class,
            f"amiSelectorTerms alias {shown(alias)}",
            "a dated version",
            "name one: bottlerocket@v1.60.0",
        )
        for alias in aliases
        if isinstance(alias, str) and alias.endswith("@latest")
    ]


POLICY = resource_rule(
    "pinned-images",
    "No image is called latest or left without a tag; where required, each is pinned by digest.",
    Severity.MEDIUM,
    judge,
    {"requireDigest": Property("flag", True, "whether every image needs a digest")},
)
