"""The short form of `python -m tests.fuzz`: a real cluster outlives malformed frames on all its listeners."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fuzz.bounds import IDLE_BYTES, MEMORY, SLOW_BYTES, files_come_back
from tests.fuzz.clusters import listeners
from tests.fuzz.load import idle, served, slow_reader
from tests.fuzz.storm import Cost, storm

FRAMES = 400
IDLE = 300


@pytest.mark.integration
def test_nodes_outlive_malformed_frames_and_serve_other_connections(tmp_path: Path) -> None:
    with listeners("quorum", tmp_path) as found:
        for seed, at in enumerate(found):
            before = Cost.of(at.pid)
            client = asyncio.run(storm(at, FRAMES, seed))
            assert client.latencies, "a client beside was served"
            assert files_come_back(at.pid, before.files)
            assert Cost.of(at.pid).memory - before.memory < MEMORY
        clients = next(at for at in found if at.name == "CLIENT")
        before = Cost.of(clients.pid)
        with idle(clients, IDLE), slow_reader(clients):
            assert asyncio.run(served(clients, times=3)) < 20
            assert Cost.of(clients.pid).memory - before.memory < IDLE * IDLE_BYTES + SLOW_BYTES
        assert files_come_back(clients.pid, before.files)
