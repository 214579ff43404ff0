"""The metrics of a node, in Prometheus' text format."""

from __future__ import annotations

import socket
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from typing import Literal

from pydantic import Field

from fencepost.harness.network.addresses import METRICS_PORT
from fencepost.harness.plan.answers import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.plan.asked import Asked
from fencepost.harness.plan.base import Milliseconds
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.wire.no_answer import Closed, NotReached, Unanswered, Unreadable


class MetricsProbe(ProbeStep):
    """The metrics of a node, which has `metrics.listener: "{address}:9404"` among its settings.

    Values are claimed to be `equal` or `above`, by the name of the metric.
    """

    phrase = "Read the metrics of {node}"
    harmless = True
    request: Literal["metrics"] = "metrics"
    equal: dict[str, float] = Field(default_factory=dict)
    """Values by the name of the metric. With another value, or without the metric, the outcome is `different`."""
    above: dict[str, float] = Field(default_factory=dict)
    """Values below those of the metrics, by name."""
    within_ms: Milliseconds = 0
    """Ask again for so long until the outcome is the one that is expected. Only the last answer is judged."""

    @property
    def awaited_ms(self) -> int:
        return self.within_ms

    def ask(self, run: Asked) -> ProbeAnswer:
        found = _read(lambda: run.dial(METRICS_PORT, self.timeout_ms / 1000))
        claimed = {**self.equal, **self.above}
        values = {name: found.get(name) for name in claimed}
        wrong = [name for name, value in self.equal.items() if values[name] != value]
        wrong += [name for name, value in self.above.items() if (at := values[name]) is None or not at > value]
        if wrong:
            return ProbeAnswer(ProbeOutcome.DIFFERENT, None, {"claimed": claimed, "answered": values})
        return answered(0, answered=values)


def _read(dial: Callable[[], socket.socket]) -> dict[str, float]:
    """Return the value of each sample without labels, by its name."""
    from prometheus_client.parser import text_string_to_metric_families  # only a run needs it, not the reader of a plan

    http = HTTPConnection("metrics")
    try:
        http.sock = _dialled(dial)
        http.request("GET", "/metrics", headers={"Connection": "close"})
        response = http.getresponse()
        text = response.read().decode()
        if response.status != 200:
            raise Unreadable(f"the metrics are answered with HTTP status {response.status}: {text[:200]}")
        families = text_string_to_metric_families(text)
        return {sample.name: sample.value for family in families for sample in family.samples if not sample.labels}
    except TimeoutError as error:
        raise Unanswered(f"no metrics within the timeout: {error}") from error
    except OSError as error:
        raise Closed(f"the connection for metrics ended: {error}") from error
    except (HTTPException, ValueError) as error:
        raise Unreadable(f"the answer has no metrics: {error}") from error
    finally:
        http.close()


def _dialled(dial: Callable[[], socket.socket]) -> socket.socket:
    try:
        return dial()
    except ConnectionError as error:
        raise NotReached(f"no connection for metrics: {error}") from error
