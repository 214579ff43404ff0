"""The tables show each measurement at its scale."""

from __future__ import annotations

from collections import Counter

import pytest
from rich.console import Console

from tests.bench import __main__ as bench
from tests.bench.many_partitions import BROKERS, Scale
from tests.bench.zookeeper_counts import Counts


def test_a_scale_is_read_as_topics_partitions_and_replicas() -> None:
    assert Scale.read("1000x3x2") == Scale(topics=1000, partitions=3, replicas=2)
    assert str(Scale.read("1000x3x2")) == "3,000 partitions x 2 replicas"


@pytest.mark.parametrize("text", ["1000", "0x3x3", "1000x3x1", "1000x3x4", "axbxc"])
def test_a_scale_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Scale.read(text)


def test_every_broker_is_preferred_by_as_many_partitions() -> None:
    assignments = [one for topic in Scale(40, 3, 3).assignments() for one in topic]
    assert len(assignments) == 120 and all(sorted(one) == list(BROKERS) for one in assignments)
    assert Counter(one[0] for one in assignments) == dict.fromkeys(BROKERS, 40)


def test_a_design_is_measured_together_with_the_kafka_of_its_kind_each_once() -> None:
    assert bench.targets_of(["leader-driven", "zk-controller"]) == ["leader-driven", "zk-controller", bench.KAFKA_ZK]
    assert bench.targets_of(["quorum"]) == ["quorum", bench.KAFKA]


def test_a_cell_is_a_median_with_its_ratio_to_the_kafka_beside_it() -> None:
    runs = {"quorum": [{"s": 1.0}, {"s": 4.0}, {"s": 2.0}], bench.KAFKA: [{"s": 4.0}], "zk-controller": [{"s": 1234.5}]}
    console = Console(width=200)
    with console.capture() as shown:
        console.print(bench.table(runs, "times"))
    assert "2 (0.50)" in shown.get()
    assert "1,234" in shown.get() and "1,234 (" not in shown.get(), "no Kafka of its kind was measured"


def test_the_cost_of_something_is_what_was_counted_meanwhile_and_the_watches_that_are_left() -> None:
    assert Counts(30, 500, 90).since(Counts(10, 100, 40)) == Counts(watches=30, requests=400, transactions=50)
