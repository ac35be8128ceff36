"""A Helm release from its spec."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s
from pulumi.runtime.config import is_config_secret

from specs.charts import ReleaseSpec
from specs.sealed import CHARTS


def release(name: str, spec: ReleaseSpec, opts: pulumi.ResourceOptions) -> k8s.helm.v3.Release:
    """Declare `spec` as a release that is rolled back when it does not become ready in time.

    Where the charts' section holds a secret, the values are one: sealed in the state, hidden in every output.
    """
    values = dict(spec.values)
    return k8s.helm.v3.Release(
        name,
        name=spec.name,
        namespace=spec.namespace,
        chart=spec.chart,
        version=spec.version,
        repository_opts={"repo": spec.repository} if spec.repository else None,
        values=pulumi.Output.secret(values) if is_config_secret(CHARTS) else values,
        # Else the provider drops a null, and with it the user's wish to be rid of a chart's default.
        allow_null_values=True,
        skip_crds=spec.skip_crds,
        atomic=True,
        timeout=spec.timeout,
        opts=opts,
    )
