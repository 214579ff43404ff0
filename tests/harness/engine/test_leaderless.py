"""References and conditions of a cluster in which each partition's leader decides alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fencepost.faults.processes.kill import KillParameters
from fencepost.harness.clients.views import Observation
from fencepost.harness.engine.conditions import evaluation, holds, seen
from fencepost.harness.engine.errors import StepError, StepTimeout, UnresolvedRole
from fencepost.harness.engine.execute import perform
from fencepost.harness.plan.base import LogLine
from fencepost.harness.plan.conditions import Await
from fencepost.harness.plan.conditions.backlog import Backlog
from fencepost.harness.plan.conditions.broker_active import BrokerActive
from fencepost.harness.plan.conditions.broker_fenced import BrokerFenced
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import TopicSpec
from fencepost.results.records.journal import read_journal
from tests.harness.engine.still_context import LEADERLESS, image, in_zookeeper, partition, still_context

NO_PROBER: Any = None


def observed(**changes: Any) -> Observation:
    return in_zookeeper(**({"controllers": {}} | changes))


@pytest.mark.parametrize(
    ("condition", "now", "holds_now"),
    [
        (Converged(within_ms=1), observed(), True),
        (Converged(within_ms=1), observed(news=False), False),
        (Converged(within_ms=1), observed(pending=("/brokers/partitions_reassigned/t/0",)), False),
        (Converged(within_ms=1), observed(image=image(partition(-1, 4, 5))), False),
        (BrokerActive(node="node-5", within_ms=1), observed(), True),
        (BrokerActive(node="node-5", within_ms=1), observed(image=image(broker_5="gone")), False),
        (BrokerFenced(node="node-5", within_ms=1), observed(image=image(broker_5="gone")), True),
        (Backlog(node="node-5", at_least=3, within_ms=1), observed(queues={4: 9, 5: 3}), True),
        (Backlog(node="node-5", at_least=3, within_ms=1), observed(queues={4: 9, 5: 2}), False),
        (Backlog(node="node-5", is_=0, within_ms=1), observed(), True),
        (Backlog(node="node-5", at_most=2, within_ms=1), observed(queues={5: 3}), False),
    ],
)
def test_a_condition(condition: Await, now: Observation, holds_now: bool, tmp_path: Path) -> None:
    assert holds(evaluation(condition, "wait", still_context(tmp_path, now, plan=LEADERLESS)).holds) is holds_now


def test_there_is_no_controller_to_wait_for(tmp_path: Path) -> None:
    context = still_context(tmp_path, observed(), plan=LEADERLESS)
    with pytest.raises(StepError, match="leader-driven has no controller: each partition's leader decides alone"):
        context.references.node("active-controller")
    assert context.references.node("leader:t-0") == "node-4"
    assert context.references.nodes("followers:t-0") == ("node-5",)


def test_without_zookeeper_the_decided_state_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(UnresolvedRole, match="no ZooKeeper server answers"):
        still_context(tmp_path, observed(news=False), plan=LEADERLESS).references.check_news()


def test_brokers_need_not_know_of_topics_that_were_prepared(tmp_path: Path) -> None:
    many = replace(partition(4, 4, 5), topic="many")
    now = observed(image=replace(image(), partitions={**image().partitions, "many-0": many}))
    prepared = LEADERLESS.model_copy(update={"topics": (TopicSpec(name="many", assignments=((4, 5),), prepared=True),)})
    assert holds(evaluation(Converged(within_ms=1), "c", still_context(tmp_path, now, plan=prepared)).holds)
    (tmp_path / "other").mkdir()
    assert not holds(
        evaluation(Converged(within_ms=1), "c", still_context(tmp_path / "other", now, plan=LEADERLESS)).holds
    )


def test_requests_that_wait_in_a_queue_are_described_when_it_was_awaited_in_vain(tmp_path: Path) -> None:
    context = still_context(tmp_path, observed(queues={5: 3}), plan=LEADERLESS)
    empty = Backlog(node="node-5", is_=0, within_ms=1)
    assert seen(evaluation(empty, "queue", context)) == "3 requests wait in the queue of node-5"


def test_a_node_is_hit_when_its_log_says_so_and_what_it_went_on_to_say_is_kept(tmp_path: Path) -> None:
    context = still_context(tmp_path, observed(), plan=LEADERLESS)
    (tmp_path / "node-4.log").write_text("step noticed\nstep caught-up\nstep close-replica-sent\n")
    step = inject("kill", KillParameters(nodes="leader:t-0"), when=LogLine(says="caught-up"))
    assert perform(step, "kill", context, NO_PROBER)["line"] == "step caught-up"
    events = read_journal(context.journal.path).events
    assert [event.phase for event in events if event.id == "kill"] == ["intent", "injected", "proven"]
    (note,) = [event for event in events if event.id == "said-by-kill"]
    assert (note.node, note.data["lines"]) == ("node-4", ["step caught-up", "step close-replica-sent"])


def test_a_node_that_never_says_so_is_not_hit(tmp_path: Path) -> None:
    context = still_context(tmp_path, observed(), plan=LEADERLESS)
    step = inject("kill", KillParameters(nodes=("node-4",)), when=LogLine(says="caught-up", within_ms=5))
    with pytest.raises(StepTimeout, match="no line of node-4's log had 'caught-up' within 5 ms"):
        perform(step, "kill", context, NO_PROBER)
    assert context.active_faults.by_name == {}
    assert [event.phase for event in read_journal(context.journal.path).events] == ["intent"]
