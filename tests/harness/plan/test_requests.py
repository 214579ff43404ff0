"""A request is one file: it does not load without a phrase, and what it needs is checked by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest

from fencepost.harness.errors import UsageError
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer, answered
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import NodeRef, PlanModel, Value
from fencepost.harness.plan.checks.steps import step_problems
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.prose import step_in_words
from fencepost.harness.plan.requests import REQUESTS
from fencepost.harness.plan.requests.request import KafkaRequest, OfPartition
from fencepost.harness.targets.fitting import check_design
from fencepost.harness.targets.registry import load_file
from tests.harness.checkers.plans import plan


class Asking(KafkaRequest):
    phrase = "Ask {node} as {author}"
    only_in = (Dialect.KRAFT, "asks in a way that {target} does not know")
    request: Literal["asking"] = "asking"
    author: NodeRef
    first_epoch: Value = "current"
    second_epoch: Value = "current"
    text: str = ""

    @property
    def needs_controller(self) -> str | None:
        return "`asking`" if self.text == "controller" else None

    def uses(self) -> Any:
        yield "text", self.text

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        return answered(0)


def with_step(step: PlanModel, **more: Any) -> Plan:
    return plan().model_copy(update={"steps": (step,), **more})


def messages(step: PlanModel, **more: Any) -> dict[Any, str]:
    return {problem.at[-1]: problem.message for problem in step_problems(with_step(step, **more))}


def without_a_phrase() -> object:
    class Silent(KafkaRequest):
        request: Literal["silent"] = "silent"

    return Silent


def with_another_field_in_its_phrase() -> object:
    class Misspelt(KafkaRequest):
        phrase = "Ask {nod}"
        request: Literal["misspelt"] = "misspelt"

    return Misspelt


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (without_a_phrase, "the request Silent has no phrase"),
        (with_another_field_in_its_phrase, "the phrase of the request Misspelt names nod, which it does not have"),
    ],
)
def test_a_request_without_words_does_not_load(definition: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        definition()


def test_a_request_that_is_not_sent_cannot_be_made() -> None:
    class Unsent(KafkaRequest):
        phrase = "Ask {node}"
        request: Literal["unsent"] = "unsent"

    with pytest.raises(TypeError, match="exchange"):
        Unsent(node="node-4")  # type: ignore[abstract]


def test_every_request_is_found_by_the_name_that_plans_use() -> None:
    assert REQUESTS["vote"].__name__ == "VoteProbe"
    assert all(each.model_fields["request"].default == name for name, each in REQUESTS.items())
    assert OfPartition not in REQUESTS.values()


def test_the_words_of_a_request_are_its_phrase_and_every_value_that_is_not_the_current_one() -> None:
    asking = Asking(node="node-4", author="leader:t-0", first_epoch="stale", second_epoch=7, repeat=2)
    words = "Ask node-4 as the leader of t-0 at a stale first epoch and second epoch 7, 2 times"
    assert step_in_words(asking) == words
    assert step_in_words(Asking(node="node-4", author="node-5")) == "Ask node-4 as node-5"


def test_what_a_request_names_is_checked_before_a_run() -> None:
    wrong = Asking(node="node-4", author="node-99", first_epoch="$unheard", text="begun", user="alice")
    found = messages(wrong)
    assert set(found) == {"author", "first_epoch", "text", "user"}
    assert found["user"] == "`user` needs a plan with logins, such as `security: sasl`"
    assert "user" not in messages(wrong, security="sasl")


@pytest.mark.parametrize(
    ("target", "text", "message"),
    [
        ("quorum", "", "asks in a way that quorum does not know"),
        ("leader-driven", "controller", "has `asking`, but leader-driven has no controllers"),
        ("apache-kafka", "controller", None),
    ],
)
def test_a_target_that_cannot_be_asked_is_refused(target: str, text: str, message: str | None) -> None:
    asking = with_step(Asking(as_="ask", node="node-4", author="node-5", text=text))
    if message is None:
        check_design(load_file(target), asking)
        return
    with pytest.raises(UsageError, match=f"^the step ask {message}"):
        check_design(load_file(target), asking)


OF_CLIENTS = {"api", "create-partitions", "create-topic", "delete-topic", "describe-quorum", "fetch", "list-offsets"}
OF_CLIENTS |= {"list-reassignments", "metadata", "produce", "reassign", "update-features"}
OF_NODES = {"alter-isr", "controlled-shutdown", "controller-heartbeat", "heartbeat", "isr-change", "leader-and-isr"}
OF_NODES |= {"metadata-heartbeat", "metadata-log", "replica-fetch", "replica-state-event", "stop-replica"}
OF_NODES |= {"update-metadata", "vote"}


def test_only_what_clients_send_goes_to_their_listener() -> None:
    listeners = {name: each.listener for name, each in REQUESTS.items() if issubclass(each, KafkaRequest)}
    assert listeners.keys() == OF_CLIENTS | OF_NODES, "enter the request in one of the two"
    assert {listeners[name] for name in OF_CLIENTS} == {Listener.CLIENT}
    assert {listeners[name] for name in OF_NODES} == {Listener.INTERNAL}
    assert REQUESTS.keys() - listeners.keys() == {"metrics"}
