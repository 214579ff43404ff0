"""The metrics of a node are read as Prometheus would, and compared by name."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from fencepost.cluster_impl.config.values import HostPort
from fencepost.cluster_impl.metrics.endpoint import MetricsEndpoint
from fencepost.cluster_impl.metrics.samples import Kind, Sample
from fencepost.harness.network.addresses import METRICS_PORT
from fencepost.harness.plan.answers import ProbeOutcome
from fencepost.harness.plan.requests.metrics import MetricsProbe
from fencepost.harness.wire.no_answer import NotReached, Unreadable

SAMPLES = (
    Sample("lag", "A lag.", 3),
    Sample("took", "A time.", 8.0, Kind.HISTOGRAM, [("10", 2.0), ("+Inf", 2.0)]),
)


@pytest.fixture
def port() -> Iterator[int]:
    """The port of the metrics of a real node."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = HostPort("127.0.0.1", free.getsockname()[1])

    async def serve() -> MetricsEndpoint:
        return MetricsEndpoint(at, lambda: SAMPLES)

    endpoint = asyncio.run_coroutine_threadsafe(serve(), loop).result(10)
    yield at.port
    asyncio.run_coroutine_threadsafe(endpoint.close(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def run_at(port: int) -> Any:
    """Return a run with this port in place of that for metrics."""
    ports = {METRICS_PORT: port}
    return SimpleNamespace(dial=lambda of, seconds: socket.create_connection(("127.0.0.1", ports[of]), seconds))


@pytest.mark.parametrize(
    ("probe", "outcome"),
    [
        ({"equal": {"lag": 3}, "above": {"took_count": 1, "lag": 2}}, ProbeOutcome.SERVED),
        ({"equal": {"lag": 2}}, ProbeOutcome.DIFFERENT),
        ({"above": {"lag": 3}}, ProbeOutcome.DIFFERENT),
        ({"equal": {"lags": 0}}, ProbeOutcome.DIFFERENT),
    ],
)
def test_values_are_compared_by_the_name_of_the_metric(
    probe: dict[str, dict[str, float]], outcome: ProbeOutcome, port: int
) -> None:
    asked = MetricsProbe.model_validate({"node": "node-4", "timeout_ms": 5000, **probe})
    answer = asked.ask(run_at(port))
    assert answer.outcome is outcome
    assert answer.body["answered"] == {
        name: {"lag": 3, "took_count": 2}.get(name) for name in {**asked.equal, **asked.above}
    }


def test_a_port_without_metrics_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        threading.Thread(target=lambda: server.accept()[0].sendall(b"SSH-2.0\r\n"), daemon=True).start()
        with pytest.raises(Unreadable, match="the answer has no metrics"):
            MetricsProbe(node="node-4", timeout_ms=5000).ask(run_at(port))
    with pytest.raises(NotReached, match="refused"):
        MetricsProbe(node="node-4", timeout_ms=5000).ask(run_at(port))
