from pathlib import Path
from typing import Any

import pytest

from fencepost.results.records.files import write_json
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.verdict import (
    Basis,
    Counterexample,
    Finding,
    RunVerdict,
    Verdict,
    requirement_states,
)


def finding() -> Finding:
    return Finding(
        verdict=Verdict.VIOLATION,
        check="lost-write",
        title="Acknowledged records are gone",
        message="220 records acknowledged with acks=all are gone.",
        requirement="ACK-01",
        level="never",
        at=20.5,
        basis=Basis.ABSENCE,
        evidence={"judged": 320},
        counterexample=Counterexample.of(["offset", "value"], [[n, f"p-{n}"] for n in range(100, 320)]),
    )


def test_exit_codes_are_those_of_the_documentation() -> None:
    assert [verdict.exit_code for verdict in Verdict] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        ([], Verdict.PASS),
        ([Verdict.PASS, Verdict.INCONCLUSIVE], Verdict.INCONCLUSIVE),
        ([Verdict.INFRASTRUCTURE, Verdict.INCONCLUSIVE, Verdict.PASS], Verdict.INFRASTRUCTURE),
        ([Verdict.INFRASTRUCTURE, Verdict.VIOLATION, Verdict.INCONCLUSIVE], Verdict.VIOLATION),
    ],
)
def test_the_worst_verdict_is_the_verdict_of_the_whole(verdicts: list[Verdict], worst: Verdict) -> None:
    assert Verdict.worst(verdicts) is worst


def test_a_counterexample_keeps_its_first_and_last_rows_and_counts_all() -> None:
    table = Counterexample.of(["n"], [[n] for n in range(100)], head=3, tail=1)
    assert table.rows == ((0,), (1,), (2,), (99,))
    assert (table.total, table.omitted, table.gap) == (100, 96, 3)


@pytest.mark.parametrize("length", [0, 1, 11, 12])
def test_a_short_counterexample_is_kept_whole(length: int) -> None:
    table = Counterexample.of(["n"], [[n] for n in range(length)])
    assert table.omitted == 0
    assert [row[0] for row in table.rows] == list(range(length))


def test_a_verdict_is_read_back(tmp_path: Path) -> None:
    verdict = RunVerdict(
        verdict=Verdict.VIOLATION,
        headline="220 records are gone.",
        scenario="duplicate",
        target="apache-kafka:4.3.1",
        plan_hash="7f3c9a21",
        duration=30.4,
        events=10,
        torn=1,
        findings=(finding(),),
        requirements=(
            RequirementResult(
                "ACK-01", RequirementState.BROKEN, "No record is lost.", "D", "S", "https://example.org", "A note."
            ),
            RequirementResult("ACME-01", RequirementState.NOT_EXERCISED),
        ),
    )
    verdict.save(tmp_path / "verdict.json")
    assert RunVerdict.load(tmp_path / "verdict.json") == verdict


def test_a_withdrawn_finding_keeps_its_observation_and_says_why() -> None:
    withdrawn = finding().withdrawn("the links were bypassed.")
    assert withdrawn.verdict is Verdict.INCONCLUSIVE
    assert withdrawn.counterexample == finding().counterexample
    assert withdrawn.message.endswith("the links were bypassed.")


def test_the_weightiest_finding_decides_the_state_of_a_requirement() -> None:
    def judged(verdict: Verdict, requirement: str, **rest: Any) -> Finding:
        return Finding(verdict, "check", "title", "message.", requirement=requirement, **rest)

    findings = [
        judged(Verdict.PASS, "A"),
        judged(Verdict.VIOLATION, "A"),
        judged(Verdict.INCONCLUSIVE, "B"),
        judged(Verdict.PASS, "B"),
        judged(Verdict.PASS, "C", difference="AK-01"),
        judged(Verdict.PASS, "D", evidence={"judged": 3}),
        judged(Verdict.PASS, "D", evidence={"judged": 0}),
        judged(Verdict.PASS, "G"),
        judged(Verdict.PASS, "E", evidence={"judged": 0}),
        Finding(Verdict.INFRASTRUCTURE, "harness", "title", "message."),
    ]
    assert requirement_states(findings, ["D", "F"]) == {
        "A": RequirementState.BROKEN,
        "B": RequirementState.NOT_COVERED,
        "C": RequirementState.AS_LISTED,
        "D": RequirementState.HELD,
        "G": RequirementState.NOT_EXERCISED,
        "E": RequirementState.NOT_EXERCISED,
        "F": RequirementState.NOT_EXERCISED,
    }


def test_a_verdict_from_before_requirements_were_listed_gets_their_states_from_its_findings(tmp_path: Path) -> None:
    path = tmp_path / "verdict.json"
    claim = Finding(
        Verdict.PASS, "expectations", "title", "message.", requirement="K631-13", evidence={"step": "probe"}
    )
    verdict = RunVerdict(Verdict.VIOLATION, "220 records are gone.", "s", "quorum", "0", 1.0, 1, 0, (finding(), claim))
    stored = verdict.to_json()
    del stored["requirements"]
    write_json(path, stored)
    assert RunVerdict.load(path).requirement("ACK-01") == RequirementResult("ACK-01", RequirementState.BROKEN)
    assert RunVerdict.load(path).requirement("K631-13") == RequirementResult("K631-13", RequirementState.HELD)
