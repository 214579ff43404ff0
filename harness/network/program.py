"""The command line of a Toxiproxy, on this machine or in a pod; imports nothing but the standard library."""

from __future__ import annotations

from fencepost.harness.network.addresses import Endpoint

PROGRAM = "toxiproxy-server"


def server_options(api: Endpoint) -> list[str]:
    """Return the options: the API address."""
    return ["-host", api.host, "-port", str(api.port)]
