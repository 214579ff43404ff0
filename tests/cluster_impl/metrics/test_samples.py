"""Rates over a minute, and histograms."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.metrics.samples import Latencies, Meter


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_rate_is_taken_over_the_last_minute_only() -> None:
    clock = Clock()
    meter = Meter(clock)
    meter.add(60)
    clock.now += 30
    assert meter.rate() == pytest.approx(2.0)
    meter.add(60)
    clock.now += 20
    assert meter.rate() == pytest.approx(120 / 50)
    clock.now += 20
    assert meter.rate() == pytest.approx(1.0)
    clock.now += 60
    assert (meter.rate(), meter.total) == (0.0, 120)


def test_a_meter_keeps_one_entry_for_each_second() -> None:
    clock = Clock()
    meter = Meter(clock)
    for _ in range(5):
        meter.add()
    clock.now += 10
    assert meter.rate() == pytest.approx(0.5)


def test_a_histogram_counts_each_latency_in_its_bound_and_all_above() -> None:
    latencies = Latencies()
    for seconds in (0.001, 0.003, 99.0):
        latencies.add(seconds)
    buckets = dict(latencies.buckets())
    assert [buckets[bound] for bound in ("1", "2", "5", "5000", "+Inf")] == [1, 1, 2, 2, 3]
    assert latencies.sum_ms == pytest.approx(99_004.0)
