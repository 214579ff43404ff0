"""Fuzzed frames are what they claim to be, and a broker's handlers outlive them without one traceback."""

from __future__ import annotations

import logging
import socket
import struct
from pathlib import Path

import pytest

from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.registry import KAFKA, QUORUM_BROKER, QUORUM_CONTROLLER, ZK_BROKER
from tests.cluster_impl.requests import batch, produce
from tests.cluster_impl.static_cluster import static_cluster
from tests.fuzz.frames import BELIEVED, REQUESTS, Frames, Kind

REGISTRIES = (KAFKA, QUORUM_BROKER, QUORUM_CONTROLLER, ZK_BROKER)
COUNT = 1500


def test_equal_seeds_give_equal_frames_and_other_seeds_others() -> None:
    generated = [
        [frames.next() for _ in range(50)] for frames in (Frames(KAFKA, 1), Frames(KAFKA, 1), Frames(KAFKA, 2))
    ]
    assert generated[0] == generated[1] != generated[2]


@pytest.mark.parametrize("registry", REGISTRIES)
def test_every_kind_can_be_generated_for_every_listener(registry: dict[int, object]) -> None:
    frames = Frames(registry, 1)  # type: ignore[arg-type]
    for kind in Kind:
        assert all(frames.next(kind) for _ in range(50))


def test_but_for_lengths_and_noise_the_length_is_that_of_the_frame() -> None:
    frames = Frames(KAFKA, 3)
    for kind in set(Kind) - {Kind.LENGTH, Kind.NOISE}:
        for _ in range(50):
            frame = frames.next(kind)
            assert struct.unpack_from(">i", frame) == (len(frame) - 4,)


def test_requests_that_are_believed_exist() -> None:
    assert {f"{name}Request" for name in BELIEVED} <= set(REQUESTS)


def test_a_broker_outlives_every_kind_without_a_traceback(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A traceback says that a handler met something that it did not expect."""
    with static_cluster(tmp_path, 1) as cluster, caplog.at_level(logging.ERROR):
        cluster.create("t", [[1]])
        at = cluster.world.brokers[1].endpoints["CLIENT"]
        frames = Frames(KAFKA, 7)
        for _ in range(COUNT):
            with socket.create_connection((at.host, at.port)) as connection:
                connection.sendall(frames.next())
        assert produce(cluster, 1, batch("a")).error_code == 0
        assert (
            cluster.ask(1, m.ApiVersionsRequest(client_software_name="fuzz", client_software_version="1"), 3).error_code
            == 0
        )
    assert [record.getMessage() for record in caplog.records] == []
