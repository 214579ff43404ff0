"""A campaign that learns chooses among variants, and seed and guidance decide its plans."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from fencepost.harness.campaign.campaign import Campaign, Order
from fencepost.harness.campaign.combinations import Combination, parts, tried
from fencepost.harness.campaign.guidance import Failure, Guidance, counted
from fencepost.harness.campaign.guided import Choice, GuidedPlans, Way, expected_defects, likeness
from fencepost.harness.campaign.learning import learn
from fencepost.harness.campaign.planner import generate
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import Plan, dump_plan
from fencepost.results.store.store import Store
from tests.results.store.stores import head, run

SEEDS = range(1, 13)
KILL = Combination("kill", "leader", "whole", "plain")

make = cache(partial(generate, "quorum", "process"))


def guidance(counts: Mapping[Combination, int] | None = None, *failures: Failure) -> Guidance:
    return Guidance("quorum", "1", 3, counts or {}, failures)


def chosen(given: Guidance, variants: int = 4, seeds: Iterable[int] = SEEDS) -> list[Choice]:
    return list(GuidedPlans(make, given, variants).choices(seeds))


def failure(plan: Plan) -> Failure:
    return Failure("s", "run-1", tried(plan))


def test_without_guidance_a_seed_gives_the_plan_that_it_always_gave() -> None:
    assert dump_plan(make(7)) == dump_plan(make(7, 0)) == dump_plan(Order("quorum", "process", 0, 1, 1).plan(7))
    assert dump_plan(make(7)) != dump_plan(make(7, 1))


def test_seed_and_guidance_decide_all_plans(tmp_path: Path) -> None:
    given = guidance(counted([frozenset({KILL})]), failure(make(3)))
    file = tmp_path / "guidance.json"
    given.save(file)
    again = Guidance.load(file)
    assert again == given
    assert [dump_plan(each.plan) for each in chosen(given)] == [dump_plan(each.plan) for each in chosen(again)]


def test_other_guidance_gives_other_plans() -> None:
    known = guidance(counted(tried(make(seed)) for seed in range(100, 120)))
    assert [each.plan for each in chosen(known)] != [each.plan for each in chosen(guidance())]


def test_a_share_of_the_plans_is_that_of_the_seed() -> None:
    free = [seed for seed, each in zip(SEEDS, chosen(guidance()), strict=True) if each.way is Way.FREE]
    assert free
    assert all(each.plan == make(seed) for seed, each in zip(SEEDS, chosen(guidance()), strict=True) if seed in free)
    assert {each.way for each in chosen(guidance())} == {Way.FREE, Way.RARE}


def test_what_was_never_tried_is_preferred() -> None:
    had = counted(tried(make(seed)) for seed in range(100, 120))
    seeds = range(1, 31)  # plans differ much in length, so few of them prove nothing
    choices = zip(seeds, chosen(guidance(had), 16, seeds), strict=True)
    rare = [(seed, each) for seed, each in choices if each.way is Way.RARE]
    new = sum(len(parts(tried(each.plan)) - set(had)) for _, each in rare)
    plain = sum(len(parts(tried(make(seed))) - set(had)) for seed, _ in rare)
    assert new > 1.3 * plain


def test_a_combination_counts_less_with_each_run_that_had_it() -> None:
    plan = make(5)
    scores = [expected_defects(plan, dict.fromkeys(parts(tried(plan)), times)) for times in (0, 1, 10)]
    assert scores[0] == pytest.approx(3 * scores[1]) and scores[1] > 20 * scores[2] > 0


def test_plans_near_a_failure_have_its_faults() -> None:
    failed = make(3)
    near = [each for each in chosen(guidance({}, failure(failed))) if each.way is Way.NEAR]
    assert near and all(each.near is not None and each.near.run == "run-1" for each in near)
    mean = sum(likeness(each.plan, failure(failed), {}) for each in near) / len(near)
    plain = sum(likeness(make(seed), failure(failed), {}) for seed in range(100, 120)) / 40
    assert mean > 2 * plain
    assert likeness(failed, failure(failed), {}) == 1.0


def test_a_campaign_keeps_its_guidance_beside_its_plans(tmp_path: Path) -> None:
    order = Order("quorum:1", "process", 7, 60, 1, guidance=guidance(counted([frozenset({KILL})])))
    campaign = Campaign.create(order, tmp_path)
    assert Guidance.load(campaign.folder / "guidance.json") == order.guidance
    assert json.loads((campaign.folder / "campaign.json").read_text())["guidance"] == "guidance.json"
    repeated = Order("quorum:1", "process", 7, 60, 1, guidance=Guidance.load(campaign.guidance))
    assert [repeated.plan(number) for number in (2, 1)] == [order.plan(2), order.plan(1)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("counts: 1", "is no guidance file"),
        ("[]", "it has no `format`"),
        ('{"format": "fencepost-campaign/1"}', "its format is fencepost-campaign/1"),
        ('{"format": "fencepost-guidance/1", "target": "quorum"}', "it has no 'failures'"),
        (
            '{"format": "fencepost-guidance/1", "target": "q", "release": "1", "runs": 1, "failures": [], '
            '"planner": 9, "counts": {"kill": 1}}',
            "`kill` is no combination",
        ),
    ],
)
def test_a_file_that_is_no_guidance_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "g.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError, match=said):
        Guidance.load(file)


def fault(name: str, kind: str, row: int, **more: Any) -> dict[str, Any]:
    """Return a row of `faults`."""
    times = {"ordered_s": 1.0, "proven_s": 1.5, "healed_s": 5.0, "active_faults": 0, "outcome": "healed"}
    return {**head(name), "row": row, "fault": f"f{row}", "kind": kind, "cluster_state": "whole", **times, **more}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(str(tmp_path / "store"))


def test_runs_are_counted_by_what_they_tried_and_reached(store: Store) -> None:
    store.add(
        {
            "runs": [
                run("a", campaign="c", release="1", features=["workload:acks=all", "fault:kill"]),
                run("b", campaign="c", release="1", features=["workload:group"], combinations=[str(KILL)]),
                run("scenario", features=[]),
                run("old", campaign="c", release="0", combinations=[str(KILL)]),
                run("broken", campaign="c", release="1", left_out="no node started", combinations=[str(KILL)]),
                run("mutant", campaign="c", release="1", planted_defect="m", combinations=[str(KILL)]),
            ],
            "faults": [
                fault("a", "kill", 0, role="leader"),
                fault("a", "pause", 1, role="ISR member", ordered_s=2.0),
                fault("a", "cut", 2, role="ISR member", proven_s=None),
                fault("scenario", "kill", 0, role="leader"),
            ],
        }
    )
    found = learn(store, "quorum", "1")
    assert (found.runs, found.failures) == (2, ())
    assert found.counts[KILL] == 2
    assert {str(each): number for each, number in found.counts.items() if each.factors == 4} == {
        "kill | leader | whole | plain": 2,
        "pause | ISR member | during kill | plain": 1,
    }
    assert learn(store, "quorum", "1", "m").counts[KILL] == 3
    assert learn(store, "zk-controller", "1").runs == 0


def test_of_each_kind_of_failure_the_shortest_plan_counts(store: Store) -> None:
    plans = {"a": make(1), "b": make(2), "c": make(3)}
    signatures = {"a": "one", "b": "one", "c": "two"}
    shorter = min("ab", key=lambda name: len(plans[name].steps))
    rows = [
        {
            **head(name, verdict="violation"),
            "row": 0,
            "plan_hash": name,
            "steps": len(plan.steps),
            "plan": dump_plan(plan),
        }
        for name, plan in plans.items()
    ]
    rows.append({**rows[0], "run_id": "d", "steps": 1, "plan": "scenario: of another version"})
    store.add(
        {
            "runs": [run(name, verdict="violation", signature=signatures.get(name, "one")) for name in "abcd"],
            "plans": rows,
        }
    )
    found = {each.signature: each for each in learn(store, "quorum", "1").failures}
    assert {each.run for each in found.values()} == {shorter, "c"}
    assert found["two"].combinations == tried(plans["c"])


def test_counts_are_of_runs_and_not_of_combinations() -> None:
    two = frozenset({KILL, Combination("kill", "leader", "recovering", "plain")})
    assert counted([two, two])[Combination("kill", "leader", "*", "*")] == 2
    assert counted([]) == Counter()
