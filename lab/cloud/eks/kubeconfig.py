"""The kubeconfig that the plugin hands out: `aws eks get-token` as the way in."""

from typing import Any


def kubeconfig(
    name: str, endpoint: str, authority: str, arn: str, role: str | None = None, profile: str | None = None
) -> dict[str, Any]:
    """The kubeconfig of a cluster; its region is read from the cluster's ARN."""
    region = arn.split(":")[3]
    arguments = ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"]
    arguments += ["--role", role] if role else []
    arguments += ["--profile", profile] if profile else []
    return {
        "apiVersion": "v1",
        "clusters": [
            {"cluster": {"server": endpoint, "certificate-authority-data": authority}, "name": "kubernetes"}
        ],
        "contexts": [{"context": {"cluster": "kubernetes", "user": "aws"}, "name": "aws"}],
        "current-context": "aws",
        "kind": "Config",
        "users": [
            {
                "name": "aws",
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": "aws",
                        "args": arguments,
                        "env": [
                            {
                                "name": "KUBERNETES_EXEC_INFO",
                                "value": '{"apiVersion": "client.authentication.k8s.io/v1beta1"}',
                            }
                        ],
                    }
                },
            }
        ],
    }
