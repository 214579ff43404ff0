from pathlib import Path

import pytest

from results.records.verdict import Basis, Counterexample, Finding, RunVerdict, Verdict


def finding() -> Finding:
    return Finding(
        verdict=Verdict.VIOLATION,
        check="lost-write",
        title="Acknowledged records are gone",
        sentence="220 records acknowledged with acks=all are gone.",
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
        story="duplicate",
        target="apache-kafka:4.3.1",
        plan_hash="7f3c9a21",
        duration=30.4,
        events=10,
        torn=1,
        findings=(finding(),),
    )
    verdict.save(tmp_path / "verdict.json")
    assert RunVerdict.load(tmp_path / "verdict.json") == verdict


def test_a_withdrawn_finding_keeps_its_observation_and_says_why() -> None:
    withdrawn = finding().withdrawn("the links were bypassed.")
    assert withdrawn.verdict is Verdict.INCONCLUSIVE
    assert withdrawn.counterexample == finding().counterexample
    assert withdrawn.sentence.endswith("the links were bypassed.")
