"""The probe that reads the metrics of a node, in Prometheus' text format."""

from __future__ import annotations

import socket
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException

from prometheus_client.parser import text_string_to_metric_families

from fencepost.harness.clients.raw import Closed, Unanswered, Unreadable
from fencepost.harness.engine.probes.answer import ProbeAnswer, ProbeOutcome, answered
from fencepost.harness.plan.probes import MetricsProbe


def ask_metrics(probe: MetricsProbe, dial: Callable[[], socket.socket]) -> ProbeAnswer:
    """Read the metrics over the connection of `dial`, and compare those that the plan names. Raises NoAnswer."""
    found = _read(dial)
    claimed = {**probe.equal, **probe.above}
    values = {name: found.get(name) for name in claimed}
    wrong = [name for name, value in probe.equal.items() if values[name] != value]
    wrong += [name for name, value in probe.above.items() if (at := values[name]) is None or not at > value]
    if wrong:
        return ProbeAnswer(ProbeOutcome.DIFFERENT, None, {"claimed": claimed, "answered": values})
    return answered(0, answered=values)


def _read(dial: Callable[[], socket.socket]) -> dict[str, float]:
    """Return the value of each sample without labels, by its name."""
    http = HTTPConnection("metrics")
    try:
        http.sock = dial()
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
