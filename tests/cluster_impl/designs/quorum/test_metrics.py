"""The six metrics of KIP-631: their names, and when they count what."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from fencepost.cluster_impl.designs.quorum.metrics import ControllerMeters, broker_lag
from fencepost.cluster_impl.metrics.samples import Sample


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def by_name(samples: Iterable[Sample]) -> dict[str, Sample]:
    return {sample.name: sample for sample in samples}


@pytest.mark.requirement("K631-69", "K631-70")
def test_the_metrics_have_the_names_of_the_document() -> None:
    samples = by_name(ControllerMeters().samples(active=True, lag=3, snapshot_lag=8))
    of_controller = "kafka_controller_KafkaController_"
    named = {"MetadataLag", "MetadataCommitLatencyMs", "MetadataCommitRate", "MetadataSnapshotLag"}
    assert {of_controller + name for name in (*named, "ControllerRequestsRate")} <= samples.keys()
    assert samples[of_controller + "MetadataLag"].value == 3
    assert samples[of_controller + "MetadataSnapshotLag"].value == 8
    assert (broker_lag(5).name, broker_lag(5).value) == ("kafka_controller_KafkaServer_MetadataLag", 5)


@pytest.mark.requirement("K631-70")
def test_a_commit_is_timed_from_the_append_by_the_active_controller_only() -> None:
    clock = Clock()
    meters = ControllerMeters(clock)
    meters.appended(4)
    clock.now += 0.01
    meters.appended(6)
    clock.now += 0.01
    meters.committed(5, 5)
    assert meters.latency.sum_ms == pytest.approx(20.0)
    meters.resigned()
    meters.committed(2, 7)
    assert meters.latency.sum_ms == pytest.approx(20.0)
    assert meters.commits.total == 7


@pytest.mark.requirement("K631-70")
def test_rates_are_per_second() -> None:
    clock = Clock()
    meters = ControllerMeters(clock)
    meters.requests.add(30)
    meters.committed(60, 59)
    clock.now += 30
    samples = by_name(meters.samples(active=False, lag=0, snapshot_lag=0))
    assert samples["kafka_controller_KafkaController_ControllerRequestsRate"].value == pytest.approx(1.0)
    assert samples["kafka_controller_KafkaController_MetadataCommitRate"].value == pytest.approx(2.0)
