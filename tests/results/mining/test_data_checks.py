"""The Spark jobs over a history agree with the checkers in memory, on random histories with every anomaly."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from fencepost.harness.checkers.registry import checkers
from fencepost.harness.checkers.visible_end import visible_end
from fencepost.results.mining.data_checks import CHECKS, check_journal
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder

pytestmark = pytest.mark.integration

IN_MEMORY = {each.checks[0].name: each for each in checkers() if each.reads == ("history",)}
TOPICS, PARTITIONS = ("t", "u", "v"), (0, 1)


def random_journal(seed: int) -> JournalBuilder:
    """Return a journal in which offsets and values are few, so that they meet in every wrong way."""
    rng = random.Random(seed)
    journal = JournalBuilder()
    values = [f"v{number}" for number in range(60)]
    for number in range(rng.randrange(80, 160)):
        topic, partition = rng.choice(TOPICS), rng.choice(PARTITIONS)
        kind = rng.random()
        if kind < 0.5:
            outcome = rng.choice(["ok"] * 6 + ["info", "fail", None])
            offset = rng.choice([None, *range(12)]) if outcome == "ok" else None
            acks, process = rng.choice(["all", "all", "1"]), rng.choice("pqr")
            journal.send(
                f"v{number}",
                offset,
                outcome=outcome,
                acks=acks,
                idempotent=rng.random() < 0.8,
                process=process,
                topic=topic,
                partition=partition,
            )
        elif kind < 0.85:
            offsets = sorted(rng.sample(range(12), rng.randrange(4)), reverse=rng.random() < 0.1)
            reset, uncommitted = rng.random() < 0.2, rng.random() < 0.1
            records = [(offset, rng.choice(values)) for offset in offsets]
            journal.poll(
                *records,
                process=rng.choice("cd"),
                reset=reset,
                uncommitted=uncommitted,
                topic=topic,
                partition=partition,
            )
        else:
            end = rng.randrange(12), rng.randrange(3)
            ask(journal, rng.choice(TOPICS), *end, late=rng.random() < 0.3)
    for _ in range(2):
        read_all(journal, rng, values)
    return journal


def read_all(journal: JournalBuilder, rng: random.Random, values: list[str]) -> None:
    """Let the final read come to the end of four partitions; of several final reads the last one counts."""
    journal.event("op", f"final-{journal.t}", "invoke", {"process": "final", "f": "final"})
    spans = []
    for topic, number in rng.sample([(topic, number) for topic in TOPICS for number in PARTITIONS], 4):
        records = [(offset, rng.choice(values)) for offset in sorted(rng.sample(range(12), 6))]
        journal.poll(*records, process="final", partition=number, topic=topic, final=True)
        spans.append([topic, number, rng.randrange(3), 12])
    journal.event("op", f"final-{journal.t}", "ok", {"process": "final", "f": "final", "partitions": spans})


def ask(journal: JournalBuilder, topic: str, offset: int, epoch: int, late: bool) -> None:
    """Let a leader show the end of a partition; a late answer is to a question that was asked long before."""
    asked = max(0.0, journal.t - (1.5 if late else 0.02))
    data = {"what": "end", "topic": topic, "partition": 0, "offset": offset, "leader_epoch": epoch}
    journal.event("state", "s", "seen", data | {"asked": asked, "answered": journal.t + 0.05}, node="n1")


@given(seed=st.integers(0, 10**6))
@settings(
    max_examples=2,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_the_jobs_judge_random_histories_as_the_checkers_do(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    builder = random_journal(seed)
    path = tmp_path / f"journal-{seed}.jsonl"
    lines = [json.dumps(event.to_json()) for event in builder.events]
    path.write_text("\n".join([*lines, '{"seq": 1, "torn']))
    checked = check_journal(spark, str(path))
    history = builder.history()
    starts = {at: final.start for at, final in history.final.items() if final.start}
    perhaps_deleted = replace(history, deleted_before=starts)
    for found in checked.checks:
        name = found["check"]
        given = perhaps_deleted if name in ("unseen", "consumed-then-vanished") else history
        finding = visible_end(builder.journal(), {}) if name == "visible-end" else IN_MEMORY[name](given)
        assert finding.requirement == found["rule"]
        if name == "unread":
            assert (finding.verdict is Verdict.PASS) == (found["wrong"] == 0)
            continue
        wrong = finding.evidence.get("offsets" if name == "inconsistent-offsets" else "wrong", 0)
        assert (name, found["judged"], found["wrong"]) == (name, finding.evidence["judged"], wrong)
        assert len(found["examples"]) == min(found["wrong"], 20)
    assert checked.unreadable == 1


def test_the_document_says_which_rules_are_judged() -> None:
    section = (Path(__file__).parents[3] / "docs/spark.md").read_text().partition("## Histories of soak runs")[2]
    judged, _, _ = section.partition("It judges no other rule")
    assert set(re.findall(r"[A-Z]+-\d+", judged)) == {rule for rule, _ in CHECKS.values()}


def test_a_topic_that_was_deleted_is_left_out_and_named(spark: SparkSession, tmp_path: Path) -> None:
    journal = JournalBuilder().send("a", 0, topic="gone").send("b", 0, topic="kept").poll((1, "x"), topic="kept")
    journal.event("state", "s", "seen", {"what": "partition-gone", "topic": "gone", "partition": 0})
    (tmp_path / "journal").write_text("\n".join(json.dumps(event.to_json()) for event in journal.events))
    checked = check_journal(spark, str(tmp_path / "journal"))
    assert checked.left_out == ("gone",)
    (found,) = (each for each in checked.checks if each["check"] == "lost-write")
    assert (found["judged"], found["wrong"], found["examples"][0]["value"]) == (1, 1, "b")
