"""How a Toxiproxy is started, on this machine or in a pod, where only Python itself is at hand."""

from __future__ import annotations

from harness.network.addresses import Endpoint

PROGRAM = "toxiproxy-server"


def server_options(api: Endpoint) -> list[str]:
    """Where it listens; and it counts the bytes that it passes on."""
    return ["-host", api.host, "-port", str(api.port), "-proxy-metrics"]
