"""Requests of any API from plain data, and values of a response by path."""

from __future__ import annotations

import dataclasses
import io

import pytest
from kio.serial import entity_reader, entity_writer

from fencepost.harness.plan import messages, paths
from fencepost.harness.plan.file import PlanError, dump_plan, parse_plan

PLAN = """\
format: fencepost-plan/2
scenario: asked
title: A request is written out
document: fencepost guarantees
seed: 1
target: apache-kafka
settings: {broker: {log.message.timestamp.type: LogAppendTime}}
topology:
  nodes:
  - {name: node-1, id: 1, index: 1, roles: [controller]}
  - {name: node-4, id: 4, index: 4, roles: [broker]}
topics:
- {name: t, assignments: [[4]]}
steps:
- {do: probe, request: api, as: begin, node: node-4, api: init_producer_id, binds: {id: producer_id},
   body: {transactional_id: x, transaction_timeout: 10000, producer_id: -1, producer_epoch: -1}}
- {do: probe, request: api, as: end, node: node-4, api: end_txn, version: 3, answer: {error_code: 0},
   body: {transactional_id: x, producer_id: $id, producer_epoch: 0, committed: true}}
- {do: probe, request: api, as: none, node: node-4, api: metadata, body: {topics: []}}
- {do: probe, request: metadata-log, as: log, node: node-1, where: {resource_name: "", value: null, name: $id},
   answer: {"log[1]": null}, binds: {topic: "log[0].topic_id"}}
"""


def test_a_request_written_out_survives_its_round_trip_with_empty_lists_and_nulls() -> None:
    plan = parse_plan(PLAN, "plan.yaml")
    assert parse_plan(dump_plan(plan), "again.yaml") == plan
    assert "topics: []" in dump_plan(plan)
    assert plan.steps[-1].where == {"resource_name": "", "value": None, "name": "$id"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("api: end_txn", "api: end_tx", "there is no API `end_tx`: did you mean `end_txn`? at plan.yaml:18"),
        ("committed: true", "commited: true", "EndTxnRequest has no field `commited`: did you mean `committed`?"),
        ("producer_epoch: 0, ", "", "EndTxnRequest needs the field `producer_epoch`; it has: transactional_id"),
        ("committed: true", "committed: 1", "`committed` is of the type bool, which 1 is not"),
        ("committed: true", "committed: null", "`committed` cannot be null"),
        ("topics: []", "topics: 3", "`topics` is a list"),
        ("topics: []", "topics: [t]", "`topics[0]` is a mapping with the fields"),
        ("producer_id: $id", "producer_id: $no", "no bind `no` comes before this; so far: id"),
        ("answer: {error_code: 0}", 'answer: {"error code": 0}', "`error code` is no path"),
        (
            "answer: {error_code: 0}",
            "answer: {error_code: 51}, expect: {level: must, requirement: ADM-02, outcome: 'error:51'}",
            "`answer` names `error_code`, so errors are values of the response and the outcome is `served` or",
        ),
        (
            "node: node-4, api: metadata",
            "node: 'coordinator:g', api: metadata",
            "a group that a client of the plan has",
        ),
        ("name: $id", "name: $no", "no bind `no` comes before this; so far: id"),
        ('"log[1]": null', '"log(1)": null', "`log(1)` is no path"),
        ("log.message.timestamp.type", "log.dirs", "`log.dirs` is set by the harness"),
    ],
)
def test_a_request_that_does_not_fit_its_schema_is_refused_before_anything_starts(
    right: str, wrong: str, message: str
) -> None:
    assert right in PLAN
    with pytest.raises(PlanError) as refused:
        parse_plan(PLAN.replace(right, wrong, 1), "plan.yaml")
    assert message in str(refused.value)


ANSWER = {
    "error_code": 0,
    "results": [
        {"name": "b", "error_code": 0, "configs": [{"name": "x", "value": "1"}, {"name": "y", "value": "2"}]},
        {"name": "a", "error_code": 36, "configs": []},
    ],
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("results[0].name", "b"),
        ("results[].name", ["a", "b"]),
        ("results[name=b].configs[name=y].value", "2"),
        ("results[name=c].configs[name=y].value", None),
        ("results[7].name", None),
        ("results[].configs[].value", ["1", "2"]),
    ],
)
def test_a_path_selects_values_of_a_response(path: str, value: object) -> None:
    assert paths.at_path(ANSWER, path) == value


def test_the_first_error_of_a_response_is_found_at_any_depth() -> None:
    assert paths.first_error(ANSWER) == 36
    assert paths.first_error({"error_code": 41, "results": ANSWER["results"]}) == 41
    assert paths.first_error({"results": []}) == 0
    assert paths.first_error({"results_by_topic": [{"results_by_partition": [{"partition_error_code": 14}]}]}) == 14
    assert paths.first_error({"error_code": 0, "topics": [{"topic_config_error_code": 29}]}) == 0


def test_a_request_is_built_and_read_back_in_the_types_of_json() -> None:
    request, _ = messages.payload_types("delete_records", 2)
    data = {"topics": [{"name": "t", "partitions": [{"partition_index": 0, "offset": 7}]}], "timeout": 1500}
    assert messages.plain(messages.build(request, data, str)) == data


def test_a_client_can_name_the_node_that_it_means_before_the_library_can() -> None:
    request, response = messages.payload_types("api_versions", 5)
    data = {"client_software_name": "f", "client_software_version": "1", "cluster_id": "c", "node_id": 4}
    out = io.BytesIO()
    entity_writer(request)(out, messages.build(request, data, str))
    # Compact strings have their length and one; no tagged fields end it.
    assert out.getvalue() == b"\x02f" + b"\x021" + b"\x02c" + b"\x00\x00\x00\x04" + b"\x00"
    refused = b"\x00\x81" + b"\x01" + b"\x00\x00\x00\x00" + b"\x00"
    assert paths.first_error(messages.plain(entity_reader(response)(refused, 0)[0])) == 129
    assert messages.versions("api_versions")[-1] == 5


def _batch(*values: str, **more: object) -> bytes:
    """Return a batch as a request has it: its records begin at offset 0."""
    records = [{"key": "k", "value": value} for value in values]
    produce, _ = messages.payload_types("produce", 9)
    partition = {"index": 0, "records": {"records": records, **more}}
    body = {
        "transactional_id": None,
        "acks": 1,
        "timeout": 1,
        "topic_data": [{"name": "t", "partition_data": [partition]}],
    }
    return bytes(messages.build(produce, body, str).topic_data[0].partition_data[0].records)


def _fetched(records: bytes) -> object:
    _, response = messages.payload_types("fetch", 12)
    partition = {
        "partition_index": 0,
        "error_code": 0,
        "high_watermark": 2,
        "aborted_transactions": None,
        "records": None,
    }
    body = {"throttle_time": 0, "error_code": 0, "responses": [{"topic": "t", "partitions": [partition]}]}
    answer = messages.build(response, body, str)
    found = dataclasses.replace(answer.responses[0].partitions[0], records=records)
    topic = dataclasses.replace(answer.responses[0], partitions=(found,))
    return paths.at_path(messages.plain(dataclasses.replace(answer, responses=(topic,))), RECORDS)


RECORDS = "responses[0].partitions[0].records"


def test_the_records_of_a_response_are_read_up_to_a_batch_that_is_not_whole() -> None:
    first, second = {"offset": 0, "key": "k", "value": "a"}, {"offset": 1, "key": "k", "value": "b"}
    assert _fetched(_batch("a", "b")) == [first, second]
    assert _fetched(_batch("a") + _batch("a", "b")[:-1]) == [first]
    assert _fetched(b"") == []


def test_records_that_cannot_be_read_stay_text() -> None:
    damaged = _batch("a")[:-1] + b"\x7f"
    assert isinstance(_fetched(damaged), str)
