"""The HTTP endpoint of a node's metrics, in Prometheus' text format.

The library is imported only by nodes that have the endpoint: it takes a tenth of a second, and a node starts in two.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from fencepost.cluster_impl.config.values import HostPort
from fencepost.cluster_impl.metrics.samples import Kind, Sample

Samples = Callable[[], Iterable[Sample]]

COLLECT_TIMEOUT_S = 5.0
"""The time for which a reader waits for a node that is busy or stands still."""


class MetricsEndpoint:
    """Serves the samples of a node, and those of its process, to GET requests of any path.

    The library answers in a thread of its own; the samples are taken on the node's event loop.
    """

    def __init__(self, at: HostPort, samples: Samples) -> None:
        """Start to listen. Raises OSError with a message. Called on the event loop."""
        registry = CollectorRegistry()
        registry.register(_Samples(samples, asyncio.get_running_loop()))
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        try:
            self._server, self._thread = start_http_server(at.port, at.host, registry)
        except OSError as error:
            raise OSError(f"metrics.listener={at.host}:{at.port} cannot be opened: {error.strerror}.") from error

    async def close(self) -> None:
        """Stop listening."""
        await asyncio.to_thread(self._server.shutdown)
        self._server.server_close()


class _Samples(Collector):
    def __init__(self, samples: Samples, loop: asyncio.AbstractEventLoop) -> None:
        self._samples = samples
        self._loop = loop

    def collect(self) -> Iterator[Metric]:
        taken = asyncio.run_coroutine_threadsafe(self._taken(), self._loop)
        return map(_metric, taken.result(COLLECT_TIMEOUT_S))

    async def _taken(self) -> list[Sample]:
        return list(self._samples())


def _metric(sample: Sample) -> Metric:
    match sample.kind:
        case Kind.COUNTER:
            return CounterMetricFamily(sample.name, sample.document, sample.value)
        case Kind.HISTOGRAM:
            return HistogramMetricFamily(sample.name, sample.document, list(sample.buckets), sample.value)
        case Kind.GAUGE:
            return GaugeMetricFamily(sample.name, sample.document, sample.value)
