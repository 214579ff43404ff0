"""Values that differ by nature are masked, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.harness.comparison.masks import Mask, masked, used

UUID = "6c9e4f0e-3d7a-4a52-9a3b-1f5b7f2a9c11"


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ({"topic_id": UUID}, {"topic_id": "<id>"}),
        ({"producer_id": 4000}, {"producer_id": "<id>"}),
        ({"leader_epoch": 7}, {"leader_epoch": "<epoch>"}),
        ({"timestamp": 1700000000000}, {"timestamp": "<time>"}),
        ({"host": "127.0.0.1", "port": 9092}, {"host": "<address>", "port": "<address>"}),
        ({"error_message": None}, {"error_message": "<words>"}),
        ({"throttle_time": 0}, {"throttle_time": "<time>"}),
        ({"error_code": 36, "offset": 5}, {"error_code": 36, "offset": 5}),
    ],
)
def test_values_that_mean_nothing_elsewhere_are_masked(answer: Any, left: Any) -> None:
    assert masked(answer) == left


@pytest.mark.parametrize("nothing", [{"producer_id": -1}, {"topic_id": None}, {"member_id": ""}, {"leader_epoch": -1}])
def test_that_there_is_no_value_is_left(nothing: Any) -> None:
    assert masked(nothing) == nothing


def test_a_broker_is_known_by_its_place() -> None:
    one = masked({"leader_id": 111, "replica_nodes": [111], "resource_name": "111"}, [111])
    other = masked({"leader_id": 4, "replica_nodes": [4], "resource_name": "4"}, [4])
    assert one == other == {"leader_id": "<broker 1>", "replica_nodes": ["<broker 1>"], "resource_name": "<broker 1>"}


def test_the_order_of_replicas_is_left_and_that_of_the_in_sync_ones_is_not() -> None:
    answer = {"replica_nodes": [5, 4], "isr_nodes": [5, 4]}
    expected = {"replica_nodes": ["<broker 2>", "<broker 1>"], "isr_nodes": ["<broker 1>", "<broker 2>"]}
    assert masked(answer, [4, 5]) == expected


def test_items_with_names_are_in_the_order_of_these_and_records_in_their_own() -> None:
    topics = [{"name": "b"}, {"name": "a", "partitions": [{"partition_index": 10}, {"partition_index": 9}]}]
    answer = masked({"topics": topics, "records": [{"key": "b", "offset": 0}, {"key": "a", "offset": 1}]})
    assert [topic["name"] for topic in answer["topics"]] == ["a", "b"]
    assert [each["partition_index"] for each in answer["topics"][0]["partitions"]] == [9, 10]
    assert [record["key"] for record in answer["records"]] == ["b", "a"]


def test_the_kinds_that_were_masked_are_known() -> None:
    assert used(masked({"topics": [{"topic_id": UUID}], "controller_id": 4}, [4])) == {Mask.ID, Mask.BROKER}
    assert used(masked({"error_code": 0})) == frozenset()
