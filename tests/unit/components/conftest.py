"""Loads the SDKs once: they warn of their own deprecated resources, which no component uses."""

from __future__ import annotations

import warnings

import pulumi_aws as aws

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    # pulumi-eks 4.4: NodeGroup. pulumi-aws 7.51: some of ec2 and s3; its modules load at
    # their first use.
    import pulumi_eks as eks

    _LOADED = (eks.Cluster, aws.ec2.Vpc, aws.vpc.SecurityGroupIngressRule, aws.s3.Bucket)
