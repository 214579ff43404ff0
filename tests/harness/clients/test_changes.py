"""The differences between two observations, as events of the journal."""

from __future__ import annotations

from fencepost.harness.clients.changes import changes
from fencepost.harness.clients.views import Answer, BrokerView, ControllerView, Observation


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
