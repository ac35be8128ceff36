"""kube-apiserver, with the aggregation layer through which KEDA serves external metrics."""

from lab.control.component import Component, Health
from lab.control.parts.context import Context


def apiserver(lab: Context) -> Component:
    """Tokens for authentication, RBAC for authorization, everything on loopback."""
    made, url = lab.certificates, lab.url("apiserver", "https")
    flags = {
        "etcd-servers": lab.url("etcd"),
        "bind-address": "127.0.0.1",
        "secure-port": lab.ports["apiserver"],
        # Endpoints of the `kubernetes` Service may not be loopback addresses, and nothing here uses them.
        "endpoint-reconciler-type": "none",
        "advertise-address": "127.0.0.1",
        "service-cluster-ip-range": "10.96.0.0/16",
        "allow-privileged": "true",
        "authorization-mode": "RBAC",
        "token-auth-file": made.path("tokens.csv"),
        "tls-cert-file": made.path("apiserver.crt"),
        "tls-private-key-file": made.path("apiserver.key"),
        "client-ca-file": made.path("ca.crt"),
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": made.path("service-account.pub"),
        "service-account-signing-key-file": made.path("service-account.key"),
        "requestheader-client-ca-file": made.path("front-proxy-ca.crt"),
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "proxy-client-cert-file": made.path("front-proxy.crt"),
        "proxy-client-key-file": made.path("front-proxy.key"),
        "profiling": "false",
        # Without it a stop waits a minute for open watches.
        "shutdown-delay-duration": "0s",
    }
    argv = [lab.tool("kube-apiserver"), *(f"--{name}={value}" for name, value in flags.items())]
    health = Health(url=f"{url}/readyz", ca=made.path("ca.crt"))
    return Component(name="apiserver", argv=tuple(argv), health=health)
