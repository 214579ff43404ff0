"""A request that a plan has written out is sent as it is, and its response is compared by path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.checkers.coverage import matches
from fencepost.harness.engine.errors import StepError
from fencepost.harness.engine.probes.asked import AskedRun
from fencepost.harness.plan import messages, paths
from fencepost.harness.plan.answers import ProbeOutcome
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.wire.no_answer import NotOffered
from fencepost.harness.wire.versions import Api
from tests.harness.engine.still_context import IN_ZOOKEEPER, in_zookeeper, still_context

TIME = {"throttle_time": 0}


class Connection:
    """A node that has the versions up to `high`, and answers with plain data."""

    def __init__(self, high: int, answer: dict[str, Any]) -> None:
        self.asked: list[Any] = []
        self._high, self._answer = high, answer

    def newest_version(self, api: Api) -> int:
        return api.newest_version({api.key: (0, self._high)}, "node-4")

    def call(self, request: Any, response: type[Any]) -> Any:
        self.asked.append(request)
        return messages.build(response, self._answer, str)


@pytest.fixture
def run(tmp_path: Path) -> AskedRun:
    return AskedRun(still_context(tmp_path, in_zookeeper(), plan=IN_ZOOKEEPER), "node-4")


def configs(*values: tuple[str, str]) -> dict[str, Any]:
    more = {"read_only": False, "config_source": 5, "is_sensitive": False, "synonyms": []}
    listed = [{"name": name, "value": value, **more} for name, value in values]
    result = {"error_code": 0, "error_message": None, "resource_type": 2, "resource_name": "t", "configs": listed}
    return {**TIME, "results": [result]}


def describing(**more: Any) -> ApiProbe:
    body = {"resources": [{"resource_type": 2, "resource_name": "t", "configuration_keys": None}]}
    return ApiProbe(node="node-4", api="describe_configs", body=body, **more)


def test_it_is_sent_at_the_newest_version_of_both_sides_or_at_most_at_that_of_the_plan(run: AskedRun) -> None:
    connection: Any = Connection(2, configs())
    describing().exchange(connection, run)
    describing(version=1).exchange(connection, run)
    assert [request.__version__ for request in connection.asked] == [2, 1]


def test_a_value_that_is_not_as_the_plan_says_is_different_and_says_so(run: AskedRun) -> None:
    connection: Any = Connection(2, configs(("a", "1"), ("b", "2")))
    right = describing(answer={"results[0].configs[name=b].value": "2"})
    wrong = describing(answer={"results[0].configs[].name": ["a"]})
    assert right.exchange(connection, run).outcome is ProbeOutcome.SERVED
    answer = wrong.exchange(connection, run)
    assert answer.outcome is ProbeOutcome.DIFFERENT
    assert answer.body["answered"] == {"results[0].configs[].name": ["a", "b"]}
    assert not matches("served", {"outcome": answer.outcome.value, "error": answer.error})


def test_an_error_anywhere_is_the_outcome_unless_the_plan_claims_errors(run: AskedRun) -> None:
    failed = configs()
    failed["results"][0]["error_code"] = 40
    connection: Any = Connection(2, failed)
    assert describing().exchange(connection, run).error == 40
    assert describing(answer={"results[0].error_code": 40}).exchange(connection, run).error is None


def test_values_of_a_response_stand_in_later_requests(run: AskedRun) -> None:
    begun = {**TIME, "error_code": 0, "producer_id": 7, "producer_epoch": 3}
    fields = {"transactional_id": "x", "transaction_timeout": 1000, "producer_id": -1, "producer_epoch": -1}
    binds = {"id": "producer_id", "epoch": "producer_epoch"}
    begin = ApiProbe(node="node-4", api="init_producer_id", body=fields, binds=binds)
    begin.exchange(Connection(4, begun), run)  # type: ignore[arg-type]
    ended = {"transactional_id": "x", "producer_id": "$id", "producer_epoch": "$epoch", "committed": True}
    connection: Any = Connection(3, {**TIME, "error_code": 0})
    ApiProbe(node="node-4", api="end_txn", body=ended).exchange(connection, run)
    assert (connection.asked[0].producer_id, connection.asked[0].producer_epoch) == (7, 3)


def test_a_claim_may_be_the_value_of_an_earlier_response(run: AskedRun) -> None:
    path = "results[0].configs[name=a].value"
    before: Any = Connection(2, configs(("a", "1")))
    describing(binds={"was": path}).exchange(before, run)
    same: Any = describing(answer={path: "$was"})
    assert same.exchange(before, run).outcome is ProbeOutcome.SERVED
    after: Any = Connection(2, configs(("a", "2")))
    changed = same.exchange(after, run)
    assert changed.outcome is ProbeOutcome.DIFFERENT
    assert changed.body["claimed"] == {path: "1"}


def test_what_the_version_of_the_node_does_not_have_is_not_sent(run: AskedRun) -> None:
    body = {"group_id": "g", "topics": [], "require_stable": True}
    connection: Any = Connection(5, TIME)
    with pytest.raises(StepError, match="version 5 of offset_fetch: OffsetFetchRequest has no field `require_stable`"):
        ApiProbe(node="node-4", api="offset_fetch", body=body, version=7).exchange(connection, run)
    with pytest.raises(NotOffered):
        describing().exchange(Connection(-1, TIME), run)  # type: ignore[arg-type]
    assert connection.asked == []


def test_a_batch_is_written_out_with_its_producer(run: AskedRun) -> None:
    batch = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0, "records": [{"value": "a"}, {"value": "b"}]}
    data = {"name": "t", "partition_data": [{"index": 0, "records": batch}]}
    request, _ = messages.payload_types("produce", 9)
    body = {"acks": -1, "timeout": 1000, "topic_data": [data]}
    built = messages.build(request, body, str).topic_data[0].partition_data[0].records
    assert b"a" in built and int.from_bytes(built[57:61]) == 2
    wrong = {**data, "partition_data": [{"index": 0, "records": {"producerid": 1}}]}
    with pytest.raises(paths.MessageError, match=r"has no field .*producerid.*did you mean `producer_id`"):
        messages.build(request, {**body, "topic_data": [wrong]}, str)
