"""The voters have caught up once each of them fetched again, and has what its leader had at first."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from fencepost.faults.processes.pause import PauseParameters
from fencepost.harness.engine.run import run
from fencepost.harness.engine.voters import missing
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.conditions.voters_caught_up import VotersCaughtUp
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import Plan, TopicSpec, Topology
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.topologies import brokers, controllers
from fencepost.results.records.verdict import Verdict

CAUGHT_UP = Expect(level=Level.MUST, requirement="K853-06")


def described(leader: int, **voters: tuple[int, int]) -> SimpleNamespace:
    """Return a description of the quorum: the end and the last fetch of voters, by names such as `of_1`."""
    of = [
        SimpleNamespace(replica_id=int(name.removeprefix("of_")), log_end_offset=end, last_fetch_timestamp=fetched)
        for name, (end, fetched) in voters.items()
    ]
    return SimpleNamespace(leader_id=leader, leader_epoch=5, high_watermark=7, current_voters=of)


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ((9, 51), ""),
        ((12, 40), ""),  # the clock of the leader went back
        ((9, 50), "controller 2 did not fetch"),
        ((8, 51), "controller 2 has 8 of 9 records"),
    ],
)
def test_a_voter_that_fetched_since_with_all_that_the_leader_had_is_not_missing(
    second: tuple[int, int], says: str
) -> None:
    first = described(1, of_1=(9, 60), of_2=(9, 50))
    assert missing(first, described(1, of_1=(12, 70), of_2=second)) == says


def test_at_first_every_other_voter_is_missing_and_a_leader_alone_is_not() -> None:
    first = described(1, of_1=(9, 60), of_2=(9, 50))
    assert missing(first, first) == "controller 2 did not fetch"
    alone = described(1, of_1=(9, 60))
    assert missing(alone, alone) == ""


def test_a_leader_without_a_vote_is_not_waited_for_and_its_voters_have_what_is_committed() -> None:
    first = described(3, of_1=(9, 60), of_2=(9, 50))
    assert missing(first, described(3, of_1=(7, 61), of_2=(7, 51))) == ""
    assert missing(first, described(3, of_1=(6, 61), of_2=(7, 51))) == "controller 1 has 6 of 7 records"


@pytest.mark.integration
def test_voters_of_a_real_quorum_catch_up_and_one_that_is_paused_does_not(tmp_path: Path) -> None:
    plan = Plan(
        scenario="voters",
        title="Voters catch up",
        document="d",
        seed=1,
        target="quorum",
        topology=Topology(nodes=(*controllers(), *brokers((4,)))),
        topics=(TopicSpec(name="t", assignments=((4,),), config={"min.insync.replicas": "1"}),),
        steps=(
            Converged(as_="whole"),
            VotersCaughtUp(as_="all", expect=CAUGHT_UP),
            inject("still", PauseParameters(nodes="standby-controller")),
            VotersCaughtUp(as_="two", within_ms=3_000, expect=CAUGHT_UP.model_copy(update={"level": Level.NEVER})),
            Heal(fault="still"),
            VotersCaughtUp(as_="again", expect=CAUGHT_UP),
        ),
    )
    _, verdict = run(plan, tmp_path)
    verdicts = {finding.evidence.get("step"): finding.verdict for finding in verdict.findings}
    assert {verdicts[step] for step in ("all", "two", "again")} == {Verdict.PASS}
