"""The endpoint on a real socket."""

from __future__ import annotations

import asyncio
import socket
import urllib.error
import urllib.request

import pytest

from fencepost.cluster_impl.config.values import HostPort
from fencepost.cluster_impl.metrics.endpoint import MetricsEndpoint
from fencepost.cluster_impl.metrics.samples import Kind, Sample


def free_address() -> HostPort:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return HostPort(*probe.getsockname())


def read(at: HostPort) -> str:
    with urllib.request.urlopen(f"http://{at.host}:{at.port}/metrics", timeout=10) as answer:
        text: str = answer.read().decode()
        return text


async def test_a_reader_gets_the_samples_of_the_moment_and_those_of_the_process() -> None:
    at, value = free_address(), 1.0

    def samples() -> list[Sample]:
        assert asyncio.get_running_loop()
        return [
            Sample("a_gauge", "A gauge.", value),
            Sample("a_counter", "A counter.", value, Kind.COUNTER),
            Sample("a_histogram", "A histogram.", value, Kind.HISTOGRAM, [("1", 2.0), ("+Inf", 3.0)]),
        ]

    endpoint = MetricsEndpoint(at, samples)
    try:
        await asyncio.to_thread(read, at)
        value = 7.0
        lines = (await asyncio.to_thread(read, at)).splitlines()
    finally:
        await endpoint.close()
    assert {"# HELP a_gauge A gauge.", "a_gauge 7.0", "a_counter_total 7.0"} <= set(lines)
    assert {'a_histogram_bucket{le="1"} 2.0', "a_histogram_count 3.0", "a_histogram_sum 7.0"} <= set(lines)
    assert any(line.startswith("process_resident_memory_bytes ") for line in lines)
    with pytest.raises(urllib.error.URLError, match="refused"):
        await asyncio.to_thread(read, at)


async def test_an_address_in_use_is_a_message_that_names_the_key() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        at = HostPort(*other.getsockname())
        with pytest.raises(OSError, match=f"metrics.listener={at.host}:{at.port} cannot be opened: "):
            MetricsEndpoint(at, list)
