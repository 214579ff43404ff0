"""The differences between two observations, as events of the journal."""

from __future__ import annotations

from fencepost.harness.clients.changes import changes
from fencepost.harness.clients.metadata.image import Image, PartitionEntry
from fencepost.harness.clients.views import Answer, BrokerView, ControllerView, Observation, PartitionView


def answers(after: Observation) -> list[tuple[str | None, object]]:
    ids = {"node-1": 1, "node-4": 4}
    return [(node, data["state"]) for node, data in changes(Observation(), after, ids) if data["what"] == "answer"]


def test_of_a_node_of_two_roles_the_answers_of_its_broker_count() -> None:
    both = Observation(
        brokers={"node-4": BrokerView(Answer.SERVING)}, controllers={"node-4": ControllerView(Answer.STANDBY)}
    )
    assert answers(both) == [("node-4", "serving")]


def test_the_answers_of_a_controller_are_its_own() -> None:
    alone = Observation(
        brokers={"node-4": BrokerView(Answer.SERVING)}, controllers={"node-1": ControllerView(Answer.STANDBY)}
    )
    assert answers(alone) == [("node-4", "serving"), ("node-1", "standby")]


def gone(before: BrokerView, after: BrokerView) -> list[tuple[str | None, object]]:
    seen = changes(Observation(brokers={"node-4": before}), Observation(brokers={"node-4": after}), {"node-4": 4})
    return [(node, data["partition"]) for node, data in seen if data["what"] == "partition-gone"]


def test_each_partition_that_a_broker_lists_no_more_is_journalled_the_last_one_too() -> None:
    """Else its last view of them would be taken for what it goes on answering."""
    listed = {f"t-{number}": PartitionView("t", number, 4, 0, (4,)) for number in (0, 1)}
    before = BrokerView(Answer.SERVING, frozenset({4}), listed)
    one = BrokerView(Answer.SERVING, frozenset({4}), {"t-0": listed["t-0"]})
    assert gone(before, one) == [("node-4", 1)]
    assert gone(one, BrokerView(Answer.SERVING, frozenset({4}))) == [("node-4", 0)]


def test_a_broker_that_does_not_answer_says_nothing_of_its_partitions() -> None:
    before = BrokerView(Answer.SERVING, frozenset({4}), {"t-0": PartitionView("t", 0, 4, 0, (4,))})
    for answer in (Answer.SILENT, Answer.CLOSED, Answer.REFUSING):
        assert gone(before, BrokerView(answer)) == []


def test_a_topic_of_a_user_whose_name_begins_like_that_of_an_internal_one_is_journalled() -> None:
    names = ("__made", "__consumer_offsets")
    known = {f"{name}-0": PartitionEntry(name, 0, (4,), (4,), 4, 0, 0, 7) for name in names}
    seen = changes(Observation(image=Image(partitions=known)), Observation(), {"node-4": 4})
    assert [data["topic"] for _, data in seen if data["what"] == "partition-gone"] == ["__made"]
