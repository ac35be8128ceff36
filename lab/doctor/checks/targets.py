"""Prometheus scrapes the engines and routers, as often as configured."""

from collections.abc import Iterator
from typing import Any, Literal

from lab.doctor.checks.fleet import moment, ready
from lab.doctor.checks.origin import MISSED, oldest
from lab.doctor.checks.there import named, unlike
from lab.doctor.differences import few
from lab.doctor.finding import Check, Finding
from lab.doctor.kinds import POD_MONITOR
from lab.doctor.seen import Body, Seen, Unread, dig
from lab.watch.words import counted
from specs.monitors import pod_monitor
from specs.promql import duration_seconds
from specs.settings.model import Model
from specs.settings.stack import Settings

PARTS: tuple[Literal["engine", "router"], ...] = ("engine", "router")


def of_model(seen: Seen, settings: Settings, model: Model) -> Iterator[Finding]:
    """One check for the engines, one for the routers."""
    for part in PARTS:
        check, wanted = Check(f"targets:{part}", model.name), pod_monitor(settings, model, part)
        wrong = unlike(check, seen, POD_MONITOR, wanted)
        yield wrong or _scraped(check, seen, settings, model, part, wanted)


def _scraped(
    check: Check, seen: Seen, settings: Settings, model: Model, part: str, wanted: object
) -> Finding:
    every = settings.platform.prometheus.scrape_seconds
    pods = ready(seen, model, part, MISSED * every)
    if isinstance(pods, Unread):
        return check.unknown(f"the pods could not be read: {pods.reason}")
    if isinstance(seen.targets, Unread):
        return check.unknown(f"Prometheus' targets could not be read: {seen.targets.reason}")
    if not pods:
        return check.not_applicable(f"no {part} has been ready for {MISSED} scrapes")
    # The Prometheus operator names the job so (pkg/prometheus/promcfg.go generatePodMonitorConfig).
    name, namespace = named(wanted)
    pool = f"{POD_MONITOR.name[0].lower()}{POD_MONITOR.name[1:]}/{namespace}/{name}/"
    own = {
        dig(one, "labels", "pod"): one for one in seen.targets if str(one.get("scrapePool")).startswith(pool)
    }
    found = [text for pod in pods for text in _wrong(seen, settings, pod, own.get(pod["metadata"]["name"]))]
    ages = (
        []
        if isinstance(seen.now, Unread)
        else [seen.now - moment(one.get("lastScrape")) for one in own.values()]
    )
    oldest_scrape = f", last scrape up to {max(ages):.0f} s ago" if ages else ""
    return check.holds(
        few(found),
        f"{counted(len(pods), 'ready pod')} scraped every {every} s{oldest_scrape}",
        f"see Status, Targets in Prometheus; kubectl -n {namespace} get podmonitor {name} -o yaml",
    )


def _wrong(seen: Seen, settings: Settings, pod: Body, target: Body | None) -> list[str]:
    name: Any = pod["metadata"]["name"]
    if target is None:
        return [f"{name} is no target of Prometheus"]
    if target.get("health") != "up":
        return [f"{name} is {target.get('health')}: {target.get('lastError') or 'not scraped yet'}"]
    limit = oldest(settings, "engine") or 0.0
    every, told = settings.platform.prometheus.scrape_seconds, str(target.get("scrapeInterval", ""))
    if told and duration_seconds(told) != every:
        return [f"{name} is scraped every {told}, wanted {every}s"]
    last = moment(target.get("lastScrape"))
    if not isinstance(seen.now, Unread) and seen.now - last > limit:
        return [f"{name} was last scraped {seen.now - last:.0f} s ago, at most {limit:.0f}"]
    return []
