"""Takes samples of a stack: Prometheus and the API server are asked at the same time, and either may be away."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from lightkube import Client

from lab.watch import cluster
from lab.watch.cluster import Body
from lab.watch.figures import ModelSample, NodeSample, PoolSample, Sample, Source
from lab.watch.prometheus import Prometheus, SourceError
from lab.watch.queries import query
from specs.labels import MODEL_KEY
from specs.settings.model import Model
from specs.settings.stack import Settings

__all__ = ["Sample", "Sampler"]

Found = TypeVar("Found")


class Sampler:
    """Looks at the enabled models and the pools of a stack; ``client`` stays the caller's to close."""

    def __init__(
        self,
        prometheus_url: str,
        client: Client,
        settings: Settings,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self._prometheus = Prometheus(prometheus_url, settings.platform.prometheus.tenant)
        self._client = client
        self._clock = clock
        self._query = query(settings, settings.active_models)
        self._pool = ThreadPoolExecutor(max_workers=6, thread_name_prefix="watch")

    def close(self) -> None:
        """Ends its threads and connections."""
        self._pool.shutdown(cancel_futures=True)
        self._prometheus.close()

    def sample(self) -> Sample:
        """The stack now. Never raises for a source that is away: its figures are None and the reason is told."""
        at = self._clock()
        values = self._pool.submit(self._prometheus.ask, self._query)
        claims = self._pool.submit(cluster.claims, self._client)
        namespaces = {
            model.namespace: self._namespace(model.namespace) for model in self.settings.active_models
        }
        problems: dict[Source, str] = {}
        measured = _of(values, "prometheus", problems)
        bought = _of(claims, "kubernetes", problems)
        lists = {
            namespace: [_of(one, "kubernetes", problems) for one in asked]
            for namespace, asked in namespaces.items()
        }
        return Sample(
            at=at,
            models=tuple(
                _model(model, measured, lists[model.namespace]) for model in self.settings.active_models
            ),
            pools=tuple(
                PoolSample(name=pool.name, gpu_limit=pool.gpu_limit, nodes=_nodes(bought, pool.name))
                for pool in self.settings.gpu_pools
            ),
            problems=problems,
        )

    def _namespace(self, namespace: str) -> list[Future[list[Body]]]:
        def ask(kind: Any, **labels: str | None) -> Future[list[Body]]:
            return self._pool.submit(cluster.listed, self._client, kind, namespace, **labels)

        return [
            ask(cluster.DEPLOYMENT, **{MODEL_KEY: None}),
            ask(cluster.AUTOSCALER),
            ask(cluster.POD, **{MODEL_KEY: None}),
        ]


def _of(asked: Future[Found], source: Source, problems: dict[Source, str]) -> Found | None:
    try:
        return asked.result()
    except SourceError as error:
        problems.setdefault(source, str(error))
        return None


def _model(
    model: Model, measured: dict[str, float] | None, lists: Sequence[list[Body] | None]
) -> ModelSample:
    figures: dict[str, Any] = {}
    if measured is not None:
        prefix = f"{model.name}/"
        figures = {
            name.removeprefix(prefix): value for name, value in measured.items() if name.startswith(prefix)
        }
    deployments, autoscalers, pods = lists
    if deployments is not None and pods is not None:
        figures |= vars(cluster.replicas(model.name, deployments, autoscalers or (), pods))
    return ModelSample(name=model.name, **figures)


def _nodes(claims: list[Body] | None, pool: str) -> tuple[NodeSample, ...] | None:
    return None if claims is None else tuple(cluster.nodes(claims, pool))
