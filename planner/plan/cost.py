"""What a month costs: floor without traffic, typical on a load, ceiling with every replica running on-demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.plan.floor import held_replicas
from planner.plan.load import Typical
from planner.plan.machines import cheapest, fitting
from planner.plan.prices import HOURS_A_MONTH, Prices, first_choice, hourly, last_resort, prices
from specs.network import INTERFACE_ENDPOINTS, zones_with_nat
from specs.offered import most_replicas
from specs.settings.model import Model
from specs.settings.stack import Settings
from specs.stages import IMAGE_COMPRESSED_GIB

SYSTEM_DISK_GIB = 20
"""Root volume of a managed node group that states none (EKS API reference, CreateNodegroup diskSize)."""
GIB_IN_GB = 1.073741824
# Registries whose images come in through the VPC endpoints or the S3 gateway, past the NAT gateway.
PRIVATE_REGISTRY = ".dkr.ecr."
LEFT_OUT = (
    "dataTransferOut",
    "crossZoneTransfer",
    "logsAndMetricsStorage",
    "requestsToS3AndKms",
    "supportAndTaxes",
)
"""What no line of the cost holds."""


@dataclass(frozen=True)
class Line:
    """One item of the bill in USD a month; `model` for a model's own."""

    item: str
    floor: float
    typical: float
    ceiling: float
    model: str | None = None

    def as_json(self) -> dict[str, object]:
        """Documented keys of `cost.lines`."""
        return {
            "item": self.item,
            "model": self.model,
            "floorUsd": round(self.floor, 2),
            "typicalUsd": round(self.typical, 2),
            "ceilingUsd": round(self.ceiling, 2),
        }


@dataclass(frozen=True)
class Cost:
    """The bill of a month of 730 hours, line by line."""

    lines: tuple[Line, ...]
    scarce_ceiling: float
    """The ceiling when AWS has only the dearest types that fit."""
    on_demand_typical: float
    """The typical month were nothing bought on spot."""
    spot_typical: float | None
    """The typical month were everything the pools allow bought on spot; None where no pool allows it."""
    unpriced: tuple[str, ...]
    budget: float | None

    @property
    def floor(self) -> float:
        """USD a month without a single request."""
        return sum(line.floor for line in self.lines)

    @property
    def typical(self) -> float:
        """USD a month on the typical load."""
        return sum(line.typical for line in self.lines)

    @property
    def ceiling(self) -> float:
        """USD a month with every replica and spare running all the time."""
        return sum(line.ceiling for line in self.lines)

    def as_json(self) -> dict[str, object]:
        """Documented keys of `cost`."""
        return {
            "floorUsd": round(self.floor, 2),
            "typicalUsd": round(self.typical, 2),
            "ceilingUsd": round(self.ceiling, 2),
            "scarceCeilingUsd": round(self.scarce_ceiling, 2),
            "typicalOnDemandUsd": round(self.on_demand_typical, 2),
            "typicalSpotUsd": None if self.spot_typical is None else round(self.spot_typical, 2),
            "budgetUsd": self.budget,
            "withinBudget": None if self.budget is None else self.ceiling <= self.budget,
            "lines": [line.as_json() for line in self.lines],
            "unpriced": list(self.unpriced),
            "leftOut": list(LEFT_OUT),
        }


def cost(settings: Settings, loads: Mapping[str, Typical]) -> Cost:
    """The bill; `loads` holds each active model's typical month by name."""
    table = prices()
    own = settings.cluster.mode == "eks"
    lines: list[Line] = []
    unpriced: list[str] = []
    if own:
        shared, unpriced = _platform(settings, table)
        lines += shared
    for model in settings.active_models:
        lines += gpu_lines(settings, model, loads[model.name])
        if own:
            lines += _edges(settings, model, loads[model.name], table)
    scarce = sum(line.ceiling for line in lines) + sum(
        _scarcity(settings, model) for model in settings.active_models
    )
    typical = sum(line.typical for line in lines)
    swing = [_swing(settings, model, loads[model.name]) for model in settings.active_models]
    return Cost(
        lines=tuple(lines),
        scarce_ceiling=scarce,
        on_demand_typical=typical + sum(dear for dear, _ in swing),
        spot_typical=typical + sum(cheap for _, cheap in swing)
        if any("spot" in settings.pool(model.pool).capacity_types for model in settings.active_models)
        else None,
        unpriced=tuple(unpriced),
        budget=settings.gpu_budget.max_monthly_usd,
    )


def _flat(item: str, usd: float, model: str | None = None) -> Line:
    return Line(item, usd, usd, usd, model)


def _platform(settings: Settings, table: Prices) -> tuple[list[Line], list[str]]:
    """What the stack costs before any GPU, and what the price list does not know."""
    hours, gateways, unpriced = HOURS_A_MONTH, len(zones_with_nat(settings)), list[str]()
    lines = [
        _flat("controlPlane", table.of("controlPlaneHour") * hours),
        _flat("natGateways", gateways * table.of("natGatewayHour") * hours),
        _flat("publicAddresses", gateways * table.of("publicAddressHour") * hours),
    ]
    if settings.network.endpoints:
        count = len(INTERFACE_ENDPOINTS) * len(settings.zones)
        lines.append(_flat("interfaceEndpoints", count * table.of("interfaceEndpointHour") * hours))
    nodes = settings.cluster.system_nodes
    known = [table.system_types[name] for name in nodes.instance_types if name in table.system_types]
    if known:
        node = min(entry.usd_per_hour for entry in known) * hours + SYSTEM_DISK_GIB * table.of(
            "volumeGiBMonth"
        )
        # Controllers and routers fit the least nodes; the most are for their rollouts.
        lines.append(Line("systemNodes", nodes.min * node, nodes.min * node, nodes.max * node))
    else:
        unpriced += [f"systemNodes {name}" for name in nodes.instance_types]
    if settings.cluster.hpa_sync_seconds < 15:
        unpriced.append("provisionedControlPlane")
    keys = 1 + int(settings.weights.kms and settings.weights.backend == "s3")
    lines.append(_flat("keys", keys * table.of("keyMonth")))
    if settings.weights.backend == "s3":
        size = sum(model.weights_gi_b for model in settings.active_models)
        lines.append(_flat("weightsBucket", size * table.of("bucketGiBMonth")))
    elif settings.weights.backend in {"efs", "fsx"}:
        unpriced.append(f"weights on {settings.weights.backend}")
    return lines, unpriced


def gpu_lines(settings: Settings, model: Model, load: Typical) -> list[Line]:
    """GPU nodes, spares, overhead and disks of one model. Floor and typical use the capacity type that is tried
    first, the ceiling on-demand; all on the cheapest type that fits.
    """
    pool = settings.pool(model.pool)
    instance = cheapest(model, pool)
    if instance is None:
        return []
    usual, dear = hourly(instance, first_choice(pool)), hourly(instance, last_resort(pool))
    spares = float(model.scaling.warm_spares)
    held = held_replicas(settings, model)
    most = float(most_replicas(settings, model))
    overhead = max(0.0, load.node_hours - load.bound_hours - load.spare_hours)
    served = max(0.0, load.node_hours - load.spare_hours - overhead)
    disk = prices().disk_month(pool)
    return [
        Line(
            "gpuNodes",
            held * HOURS_A_MONTH * usual,
            served * usual,
            most * HOURS_A_MONTH * dear,
            model.name,
        ),
        Line("startsHeadroomAndDrains", 0.0, overhead * usual, 0.0, model.name),
        Line(
            "warmSpares",
            spares * HOURS_A_MONTH * usual,
            load.spare_hours * usual,
            spares * HOURS_A_MONTH * dear,
            model.name,
        ),
        Line(
            "disks",
            (held + spares) * disk,
            load.node_hours / HOURS_A_MONTH * disk,
            (most + spares) * disk,
            model.name,
        ),
    ]


def _edges(settings: Settings, model: Model, load: Typical, table: Prices) -> list[Line]:
    """Load balancer and image pulls through NAT."""
    lines: list[Line] = []
    if model.ingress.enabled:
        addresses = len(settings.zones) if model.ingress.scheme == "internet-facing" else 0
        fixed = (table.of("loadBalancerHour") + addresses * table.of("publicAddressHour")) * HOURS_A_MONTH
        unit = table.of("loadBalancerUnitHour") * HOURS_A_MONTH
        # One capacity unit is 25 new connections or 1 GB an hour; token streams stay far below it.
        lines.append(Line("loadBalancer", fixed, fixed + unit, fixed + unit, model.name))
    if PRIVATE_REGISTRY not in model.image:
        pull = IMAGE_COMPRESSED_GIB * GIB_IN_GB * table.of("natGatewayGB")
        if settings.weights.backend == "hub":
            pull += model.weights_gi_b * GIB_IN_GB * table.of("natGatewayGB")
        pool = settings.pool(model.pool)
        renewed = HOURS_A_MONTH / pool.expire_after_hours if pool.expire_after_hours else 0.0
        least = (held_replicas(settings, model) + model.scaling.warm_spares) * renewed
        most = (most_replicas(settings, model) + model.scaling.warm_spares) * renewed
        launches = max(load.launches, least)
        lines.append(
            Line("imagePulls", least * pull, launches * pull, max(launches, most) * pull, model.name)
        )
    return lines


def _scarcity(settings: Settings, model: Model) -> float:
    """USD a month more when only the dearest fitting type is to be had."""
    pool = settings.pool(model.pool)
    types = fitting(model, pool)
    if not types:
        return 0.0
    each = [hourly(entry, last_resort(pool)) for entry in types]
    nodes = most_replicas(settings, model) + model.scaling.warm_spares
    return nodes * HOURS_A_MONTH * (max(each) - min(each))


def _swing(settings: Settings, model: Model, load: Typical) -> tuple[float, float]:
    """USD a month by which the typical bill changes with on-demand alone, and with spot where allowed."""
    pool = settings.pool(model.pool)
    instance = cheapest(model, pool)
    if instance is None:
        return 0.0, 0.0
    usual = hourly(instance, first_choice(pool))
    dear = instance.usd_per_hour - usual
    cheap = hourly(instance, "spot") - usual if "spot" in pool.capacity_types else 0.0
    return load.node_hours * dear, load.node_hours * cheap
