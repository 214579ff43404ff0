"""Failures with a known cause, among features that are present by chance."""

import random
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from fencepost.results.mining.association import Counts, associated, false_discovery_rates, rates_of_families
from fencepost.results.mining.attribution import OF_FAULTS, OF_RUNS, attribution, attribution_by_test, cells, mixed
from fencepost.results.mining.flakiness import outcomes_by_day
from fencepost.results.mining.groups import sorted_rows
from fencepost.results.store.tables import FAULTS, RUNS
from tests.results.mining.frames import frame, rows

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
    of_runs, of_faults = frame(spark, RUNS, runs), frame(spark, FAULTS, faults)
    tables = rows(of_runs.select(*OF_RUNS)), rows(of_faults.select(*OF_FAULTS))
    found_cells = cells(mixed(rows(outcomes_by_day(of_runs))), *tables)
    found = attribution(found_cells).to_pylist()
    independent = [set(row["causes"]) for row in found if row["independent"] is not None]
    assert independent[0] == {"fault:duplicate"} and len(independent) == 3
    assert {"fault:cut", "fault:clock"} in independent and {"fault:pause role:leader"} in independent
    assert [row["rank"] for row in found] == list(range(1, len(found) + 1))
    named = {cause for row in found for cause in row["causes"]}
    assert not any("kill" in cause or "disk-full" in cause or "slow" in cause for cause in named)
    pause = next(row for row in found if row["causes"] == ["fault:pause role:leader"])
    assert 0.4 < pause["rate_with"] < 0.6 and pause["lift"] > 1.5 and pause["exact"] and pause["q_value"] < 1e-3
    by_test = sorted_rows(attribution_by_test(found_cells), ("p_value",)).to_pylist()
    assert {row["test"] for row in by_test} == {"(random)"}
    assert by_test[0]["feature"] == "fault:duplicate"


def test_one_stratum_has_fishers_exact_value_and_several_have_that_of_mantel_and_haenszel() -> None:
    tea, women, always = range(3)
    results = [
        # R. A. Fisher's lady that tastes tea: 3 of 4.
        (tea, 4, 3, 8, 4),
        # Berkeley's admissions of 1973, departments A to D: women beside all.
        (women, 108, 89, 933, 601),
        (women, 25, 17, 585, 370),
        (women, 593, 202, 918, 322),
        (women, 375, 131, 792, 269),
        (always, 5, 5, 5, 5),
    ]
    found = associated(Counts(*np.array(results).T))
    assert found.key.tolist() == [tea, women] and found.exact.tolist() == [True, False]
    columns = {name: values.to_pylist() for name, values in found.columns().items()}
    assert columns["p_value"][tea] == pytest.approx(17 / 70)
    assert columns["odds_ratio"][tea] == pytest.approx(9)
    odds = sum(x1 * (n - n1 - (x - x1)) / n for _, n1, x1, n, x in results[1:5])
    others = sum((n1 - x1) * (x - x1) / n for _, n1, x1, n, x in results[1:5])
    assert columns["odds_ratio"][women] == pytest.approx(odds / others)
    assert columns["rate_with"][women] == pytest.approx(439 / 1101)
    assert 0 < columns["z"][women] < 5


def test_the_false_discovery_rate_has_the_values_of_a_worked_example() -> None:
    values = np.array([0.01, 0.04, 0.03, 0.005, 0.5])
    expected = [0.025, 0.05, 0.05, 0.025, 0.5]
    assert false_discovery_rates(values) == pytest.approx(expected)
    # The five are chosen ones of ten hypotheses.
    assert false_discovery_rates(values, 10) == pytest.approx([min(1, 2 * each) for each in expected])
    twice = rates_of_families(np.concatenate([values, values]), np.repeat([4, 2], 5))
    assert twice == pytest.approx(expected * 2)
