"""When the alerts about what the models share fire, and the near twins that must not."""

from __future__ import annotations

from specs import series
from tests.unit.specs.alerts.cases_model import HPA, STEADY
from tests.unit.specs.alerts.promtool import Case
from tests.unit.specs.stack import settings

STACK = settings()
WARM = settings({"scaling": {"warmSpares": 1}})
PRICED = settings(gpuBudget={"maxGpus": 32, "maxMonthlyUsd": 20_000})
SCALER = 'namespace="llm-serving",scaledObject="llama3-8b"'
OTHER = 'namespace="batch",scaledObject="nightly"'
GPUS = f'resource_type="{series.GPU_RESOURCE}"'
KUBE_GPUS = f'resource="{series.KUBE_GPU_RESOURCE}"'
HOUR = 3600


def errors(labels: str, values: str) -> dict[str, str]:
    return {f'{series.KEDA_ERRORS}{{{labels},scaler="offered"}}': values}


def hpa(desired: str, most: str, least: str, limited: str) -> dict[str, str]:
    return {
        f"{series.HPA_DESIRED}{{{HPA}}}": desired,
        f"{series.HPA_MAX}{{{HPA}}}": most,
        f"{series.HPA_MIN}{{{HPA}}}": least,
        f'{series.HPA_CONDITION}{{{HPA},condition="ScalingLimited",status="true"}}': limited,
    }


def blind(current: str) -> dict[str, str]:
    return {
        f'{series.HPA_CONDITION}{{{HPA},condition="ScalingActive",status="false"}}': STEADY,
        f"{series.HPA_CURRENT}{{{HPA}}}": current,
    }


def node(name: str, *, ready: str = STEADY, gpus: str = STEADY, resource: str = KUBE_GPUS) -> dict[str, str]:
    return {
        f'{series.KUBE_NODE_CONDITION}{{node="{name}",condition="Ready",status="true"}}': ready,
        f'{series.KUBE_NODE_CAPACITY}{{node="{name}",{resource}}}': gpus,
    }


def dcgm(name: str, values: str, host: str = "a") -> dict[str, str]:
    return {f'{name}{{{series.GPU_HOST}="{host}",gpu="0",UUID="GPU-{host}"}}': values}


def karpenter_nodes(
    count: int, kind: str = "g6.xlarge", capacity: str = "spot", pool: str = "inference"
) -> dict[str, str]:
    labels = f'nodepool="{pool}",instance_type="{kind}",capacity_type="{capacity}",managed="true",{GPUS}'
    return {f'{series.NODE_ALLOCATABLE}{{node_name="n{number}",{labels}}}': STEADY for number in range(count)}


def requested(count: int, pool: str = "inference") -> dict[str, str]:
    return {
        f'{series.NODE_REQUESTED}{{node_name="n{number}",nodepool="{pool}",{GPUS}}}': STEADY
        for number in range(count)
    }


def notices(values: str) -> dict[str, str]:
    return {f'{series.INTERRUPTIONS}{{message_type="{series.SPOT_NOTICE}"}}': values}


def pool(usage: str, limit: str = "16x100", name: str = "inference") -> dict[str, str]:
    return {
        f'{series.POOL_USAGE}{{nodepool="{name}",{GPUS}}}': usage,
        f'{series.POOL_LIMIT}{{nodepool="{name}",{GPUS}}}': limit,
    }


def refused(values: str) -> dict[str, str]:
    labels = 'zone="us-east-1a",capacity_type="spot",reason="InsufficientInstanceCapacity"'
    return {f"{series.LAUNCH_FAILURES}{{{labels}}}": values}


CONTROLLERS = (
    Case("HeadroomScalerErrors", "while every reading fails", STACK, errors(SCALER, "0+2x100"), 600),
    Case("HeadroomScalerErrors", "on two failures in a row", STACK, errors(SCALER, "0x5 1 2 2x100"), 300, 0),
    Case("HeadroomScalerErrors", "on somebody else's autoscaler", STACK, errors(OTHER, "0+2x100"), 600, 0),
    Case(
        "HeadroomScalingPaused",
        "on the annotation",
        STACK,
        {f"{series.KEDA_PAUSED}{{{SCALER}}}": STEADY},
        900,
    ),
    Case(
        "HeadroomScalingPaused", "without it", STACK, {f"{series.KEDA_PAUSED}{{{SCALER}}}": "0x100"}, 900, 0
    ),
    Case("HeadroomHpaWithoutMetrics", "above zero replicas", STACK, blind("2x100"), 600),
    Case(
        "HeadroomHpaWithoutMetrics",
        "at zero replicas, where the HPA is off by design",
        STACK,
        blind("0x100"),
        600,
        0,
    ),
    Case(
        "HeadroomReplicasAtMax",
        "when more is wanted for half an hour",
        STACK,
        hpa("10x200", "10x200", "1x200", STEADY),
        2400,
    ),
    Case(
        "HeadroomReplicasAtMax",
        "at the maximum that is just enough",
        STACK,
        hpa("10x200", "10x200", "1x200", "0x200"),
        2400,
        0,
    ),
    Case(
        "HeadroomReplicasAtMax", "below the maximum", STACK, hpa("1x200", "10x200", "1x200", STEADY), 2400, 0
    ),
    Case(
        "HeadroomReplicasAtMax",
        "where the number of replicas is fixed",
        STACK,
        hpa("2x200", "2x200", "2x200", STEADY),
        2400,
        0,
    ),
    Case("HeadroomKedaUnseen", "without KEDA's series", STACK, {"up": STEADY}, 900),
    Case("HeadroomKedaUnseen", "with them", STACK, {series.KEDA_UP: STEADY}, 900, 0),
    Case("HeadroomKarpenterUnseen", "without Karpenter's series", STACK, {"up": STEADY}, 900),
    Case(
        "HeadroomKarpenterUnseen", "during a restart", STACK, {series.KARPENTER_UP: "1x10 _x10 1x20"}, 900, 0
    ),
    Case(
        "HeadroomRulesFailing",
        "when a group of ours fails",
        STACK,
        {f'{series.RULE_FAILURES}{{rule_group="/rules/a.yaml;headroom-platform"}}': "0+1x100"},
        900,
    ),
    Case(
        "HeadroomRulesFailing",
        "when another's fails",
        STACK,
        {f'{series.RULE_FAILURES}{{rule_group="/rules/a.yaml;node-exporter"}}': "0+1x100"},
        900,
        0,
    ),
)

NODES = (
    Case("HeadroomGpuNodeNotReady", "on a GPU node", STACK, node("a", ready="0x100"), 600),
    Case(
        "HeadroomGpuNodeNotReady",
        "on a node without GPUs",
        STACK,
        node("a", ready="0x100", resource='resource="cpu"'),
        600,
        0,
    ),
    Case("HeadroomGpuNodeNotReady", "on a GPU node that is ready", STACK, node("a"), 600, 0),
    Case("HeadroomGpuXid", "on a card that fell off the bus", STACK, dcgm(series.GPU_XID, "0x4 79x20"), 300),
    Case("HeadroomGpuXid", "on an application's own fault", STACK, dcgm(series.GPU_XID, "0x4 13x20"), 300, 0),
    Case(
        "HeadroomGpuMemoryFault",
        "on a row lost within the hour",
        STACK,
        dcgm(series.GPU_ROWS_REMAPPED, "2x4 3x20"),
        300,
    ),
    Case(
        "HeadroomGpuMemoryFault",
        "when no spare row was left",
        STACK,
        dcgm(series.GPU_ROW_REMAP_FAILED, STEADY),
        300,
    ),
    Case(
        "HeadroomGpuMemoryFault",
        "on rows lost long ago",
        STACK,
        dcgm(series.GPU_ROWS_REMAPPED, "3x20"),
        300,
        0,
    ),
    Case(
        "HeadroomGpuMetricsMissing",
        "when one of two GPU nodes is not measured",
        STACK,
        node("a") | node("b") | dcgm(series.GPU_UTILIZATION, "90x100"),
        1200,
    ),
    Case(
        "HeadroomGpuMetricsMissing",
        "when both are",
        STACK,
        node("a")
        | node("b")
        | dcgm(series.GPU_UTILIZATION, "9x100")
        | dcgm(series.GPU_UTILIZATION, "9x100", "b"),
        1200,
        0,
    ),
    Case(
        "HeadroomSpotReclaims",
        "when four of five nodes go",
        STACK,
        notices("0x20 4x200") | karpenter_nodes(5),
        1800,
    ),
    Case("HeadroomSpotReclaims", "when two go", STACK, notices("0x20 2x200") | karpenter_nodes(5), 1800, 0),
    Case(
        "HeadroomSpotReclaims",
        "when four of forty go",
        STACK,
        notices("0x20 4x200") | karpenter_nodes(40),
        1800,
        0,
    ),
    Case(
        "HeadroomPodsWaitForNodes",
        "when a model's pod waits for ten minutes",
        STACK,
        {f'{series.POD_UNSCHEDULABLE}{{namespace="llm-serving",pod="llama3-8b-6d5f-x7k2p"}}': STEADY},
        900,
    ),
    Case(
        "HeadroomPodsWaitForNodes",
        "while a node starts",
        STACK,
        {f'{series.POD_UNSCHEDULABLE}{{namespace="llm-serving",pod="llama3-8b-6d5f-x7k2p"}}': "1x6 stale"},
        900,
        0,
    ),
    Case(
        "HeadroomPodsWaitForNodes",
        "when another's pod waits",
        STACK,
        {
            f'{series.POD_UNSCHEDULABLE}{{namespace="llm-serving",pod="llama3-8b-instruct-6d5f-x7k2p"}}': STEADY
        },
        900,
        0,
    ),
    Case(
        "HeadroomCapacityUnavailable",
        "when launches are refused again and again",
        STACK,
        refused("0+1x100"),
        1800,
    ),
    Case("HeadroomCapacityUnavailable", "on two refusals", STACK, refused("0x5 2x100"), 1800, 0),
    Case("HeadroomPoolNearLimit", "at 15 of 16 GPUs", STACK, pool("15x100"), 1200),
    Case("HeadroomPoolNearLimit", "at 14 of 16 GPUs", STACK, pool("14x100"), 1200, 0),
    Case("HeadroomGpusUnused", "when two nodes stay empty", STACK, karpenter_nodes(3) | requested(1), 3000),
    Case(
        "HeadroomGpusUnused",
        "while every node has a pod",
        STACK,
        karpenter_nodes(3) | requested(3),
        3000,
        0,
    ),
    Case(
        "HeadroomGpusUnused",
        "on the spare that is kept warm",
        WARM,
        karpenter_nodes(3) | requested(2),
        3000,
        0,
    ),
)

COST = (
    Case(
        "HeadroomGpusOverBudget",
        "at 33 of 32 GPUs",
        STACK,
        pool("16x100") | pool("17x100", name="large"),
        600,
    ),
    Case(
        "HeadroomGpusOverBudget",
        "at 32 of 32 GPUs",
        STACK,
        pool("16x100") | pool("16x100", name="large"),
        600,
        0,
    ),
    Case(
        "HeadroomPriceUnknown",
        "on a type that the catalogue lacks",
        STACK,
        karpenter_nodes(1, "g99.xlarge"),
        1200,
    ),
    Case("HeadroomPriceUnknown", "on a type of the pool", STACK, karpenter_nodes(1), 1200, 0),
    # 40 g6.xlarge on demand at 0.8048 USD cost 23,500 USD in 730 hours; the mean counts the hours before them too.
    Case(
        "HeadroomOverBudget",
        "when a month at this rate costs too much",
        PRICED,
        karpenter_nodes(40, capacity="on-demand"),
        7 * HOUR,
        interval=240,
        tick=300,
    ),
    Case(
        "HeadroomOverBudget",
        "when it stays below",
        PRICED,
        karpenter_nodes(30, capacity="on-demand"),
        7 * HOUR,
        0,
        interval=240,
        tick=300,
    ),
    Case(
        "HeadroomOverBudget",
        "on an hour's burst",
        PRICED,
        karpenter_nodes(40, capacity="on-demand"),
        HOUR,
        0,
        interval=240,
        tick=300,
    ),
)

CASES = (*CONTROLLERS, *NODES, *COST)
