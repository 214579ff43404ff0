"""A producer whose transactional id was taken over is never served again, whatever it asks for."""

from __future__ import annotations

import pytest

from fencepost.harness.campaign.operations.transactions import ProducerTakenOver
from fencepost.harness.plan.base import Level
from fencepost.harness.plan.steps.shutdown import Shutdown
from tests.harness.campaign.test_questions import asked, script


@pytest.mark.requirement("TXN-04")
def test_a_producer_that_was_taken_over_is_never_served() -> None:
    restarted = set()
    for seed in range(20):
        made = script(seed)
        steps = asked(made, ProducerTakenOver())
        [first, second, third] = [each for step in steps for each in step.binds if each.startswith("epoch-")]
        of_first = [
            step
            for step in steps
            if f"${first}" in map(str, step.body.values()) and not (step.expect and step.expect.known_bug)
        ]
        taken = next(place for place, step in enumerate(steps) if second in step.binds)
        after = [step for step in of_first if steps.index(step) > taken]
        assert sorted(step.api for step in after) == [
            *2 * ["add_partitions_to_txn"],
            *2 * ["end_txn"],
            "init_producer_id",
        ]
        assert {(step.expect.level, step.expect.outcome) for step in after if step.expect} == {(Level.NEVER, "served")}
        assert all(step.expect for step in after)
        assert third in steps[-1].binds
        restarted.add((any(isinstance(step, Shutdown) for step in made.steps), made.whole))
    assert restarted == {(True, False), (False, True)}


@pytest.mark.requirement("TXN-04")
@pytest.mark.parametrize(("target", "known"), [("apache-kafka", "AK-19"), ("apache-kafka-zk", "AK-19")])
def test_it_asks_for_its_epoch_also_while_another_producer_has_a_transaction_open(target: str, known: str) -> None:
    """So was finding 11 found: CONCURRENT_TRANSACTIONS says that the open one is aborted."""
    met = set()
    for seed in range(20):
        steps = asked(script(seed, target=target), ProducerTakenOver())
        again = [step for step in steps if step.api == "init_producer_id" and step.expect]
        [second] = [each for step in steps for each in step.binds if each.startswith("epoch-second-")]
        opened = next(place for place, step in enumerate(steps) if f"${second}" in map(str, step.body.values()))
        within = [step for step in again if steps.index(step) > opened]
        met.add(len(within))
        for step in within:
            assert step.expect is not None and step.expect.known_bug is not None
            claim = step.expect.level, step.expect.outcome, step.expect.requirement, step.expect.known_bug.id
            assert claim == (Level.NEVER, "error:51", "TXN-04", known)
    assert met == {0, 1}
