"""Failures with a known cause, among features that are present by chance."""

import random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from fencepost.results.mining.association import associated, with_false_discovery_rate
from fencepost.results.mining.attribution import attribution, attribution_by_test, cells
from fencepost.results.mining.flakiness import outcomes_by_day
from fencepost.results.store.tables import FAULTS, RUNS
from tests.results.mining.frames import frame

pytestmark = pytest.mark.integration


def plans(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """900 random plans, which fail if they cut a link while a clock is off, and often if they duplicate a broker.

    Half of those that pause a leader fail, too. Plans with a cut or a clock fail less often than others on the whole.

    A scenario that always fails kills nodes, one that always passes does not.
    """
    rng = random.Random(seed)
    runs: list[dict[str, Any]] = []
    faults: list[dict[str, Any]] = []
    for number in range(900):
        run = f"r{number}"
        kinds = rng.sample(["pause", "kill", "cut", "clock", "disk-full", "slow", "duplicate", "stop"], 2)
        hit = [(kind, rng.choice(["leader", "follower"])) for kind in kinds]
        fails = (("pause", "leader") in hit and rng.random() < 0.5) or set(kinds) == {"cut", "clock"}
        fails |= "duplicate" in kinds and rng.random() < 0.7
        runs.append({"run_id": run, "test": "(random)", "verdict": "violation" if fails else "pass"})
        faults += [_fault(run, "(random)", kind, role) for kind, role in hit]
    for number in range(40):
        run = f"s{number}"
        runs.append({"run_id": run, "test": "killing" if number % 2 else "idle"})
        if number % 2:
            runs[-1]["verdict"] = "violation"
            faults.append(_fault(run, "killing", "kill", "controller"))
    return runs, [row | {"row": number} for number, row in enumerate(faults)]


def _fault(run: str, test: str, kind: str, role: str) -> dict[str, Any]:
    return {"run_id": run, "test": test, "fault": kind, "kind": kind, "role": role}


def test_a_planted_fault_and_a_planted_pair_come_first_and_a_scenarios_own_fault_is_not_blamed(
    spark: SparkSession,
) -> None:
    runs, faults = plans(7)
    of_runs = frame(spark, RUNS, runs)
    found_cells = cells(outcomes_by_day(of_runs), of_runs, frame(spark, FAULTS, faults))
    found = [row.asDict() for row in attribution(found_cells).collect()]
    independent = [set(row["causes"]) for row in found if row["independent"] is not None]
    assert independent[0] == {"fault:duplicate"} and len(independent) == 3
    assert {"fault:cut", "fault:clock"} in independent and {"fault:pause role:leader"} in independent
    assert [row["rank"] for row in found] == list(range(1, len(found) + 1))
    named = {cause for row in found for cause in row["causes"]}
    assert not any("kill" in cause or "disk-full" in cause or "slow" in cause for cause in named)
    pause = next(row for row in found if row["causes"] == ["fault:pause role:leader"])
    assert 0.4 < pause["rate_with"] < 0.6 and pause["lift"] > 1.5 and pause["exact"] and pause["q_value"] < 1e-3
    by_test = attribution_by_test(found_cells).orderBy("p_value").collect()
    assert {row["test"] for row in by_test} == {"(random)"}
    assert by_test[0]["feature"] == "fault:duplicate"


def test_one_stratum_has_fishers_exact_value_and_several_have_that_of_mantel_and_haenszel(spark: SparkSession) -> None:
    columns = "key string, stratum string, with_n long, with_x long, all_n long, all_x long"
    rows = [
        # R. A. Fisher's lady that tastes tea: 3 of 4.
        ("tea", "a", 4, 3, 8, 4),
        # Berkeley's admissions of 1973, departments A to D: women beside all.
        ("women", "a", 108, 89, 933, 601),
        ("women", "b", 25, 17, 585, 370),
        ("women", "c", 593, 202, 918, 322),
        ("women", "d", 375, 131, 792, 269),
        ("always", "a", 5, 5, 5, 5),
    ]
    found = {row["key"]: row for row in associated(spark.createDataFrame(rows, columns), ["key"]).collect()}
    assert set(found) == {"tea", "women"}
    assert found["tea"]["exact"] and found["tea"]["p_value"] == pytest.approx(17 / 70)
    assert found["tea"]["odds_ratio"] == pytest.approx(9)
    odds = sum(x1 * (n - n1 - (x - x1)) / n for _, _, n1, x1, n, x in rows[1:5])
    others = sum((n1 - x1) * (x - x1) / n for _, _, n1, x1, n, x in rows[1:5])
    assert not found["women"]["exact"] and found["women"]["odds_ratio"] == pytest.approx(odds / others)
    assert found["women"]["rate_with"] == pytest.approx(439 / 1101)
    assert 0 < found["women"]["z"] < 5


def test_the_false_discovery_rate_has_the_values_of_a_worked_example(spark: SparkSession) -> None:
    values = [0.01, 0.04, 0.03, 0.005, 0.5]
    frame = spark.createDataFrame([(value,) for value in values], "p_value double")
    found = {row["p_value"]: row["q_value"] for row in with_false_discovery_rate(frame).collect()}
    assert [found[value] for value in values] == pytest.approx([0.025, 0.05, 0.05, 0.025, 0.5])
    # The five are chosen ones of ten hypotheses.
    of_ten = with_false_discovery_rate(frame, number=F.lit(10)).collect()
    assert {row["p_value"]: row["q_value"] for row in of_ten} == pytest.approx(
        {p: min(1, 2 * q) for p, q in found.items()}
    )
