"""The commands `trends` and `show` as far as they need no Spark: what is refused, and a plan that is saved."""

from pathlib import Path

from fencepost.results.store.store import Store
from fencepost.results.store.tables import PLANS, RUNS
from tests.harness.cli.conftest import Fencepost, fencepost
from tests.results.store.stores import head, run

__all__ = ["fencepost"]


def test_without_a_store_and_without_runs_the_message_says_how_to_make_one(
    fencepost: Fencepost, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    done = fencepost("trends", str(tmp_path / "empty"))
    assert done.code == 64
    assert "has neither a store nor a judged run: `fencepost publish` makes one" in done.err
    done = fencepost("trends", str(tmp_path / "nothing"))
    assert done.code == 64
    assert "there is no such folder; `fencepost publish RUNS --to STORE` makes one" in done.err


def test_wrong_options_are_refused_before_spark_starts(fencepost: Fencepost, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store")).name
    assert fencepost("trends", store, "--json", "--markdown").code == 64
    (tmp_path / "notes.txt").touch()
    done = fencepost("trends", store, "--out", str(tmp_path))
    assert (done.code, "has other files" in done.err) == (64, True)
    done = fencepost("trends", store, "--since", "yesterday")
    assert (done.code, "'yesterday' is no age" in done.err) == (64, True)


def test_the_plan_of_the_newest_failure_is_saved_for_a_replay(fencepost: Fencepost, tmp_path: Path) -> None:
    store = Store.create(str(tmp_path / "store"))
    runs = [run("old", 3, verdict="violation"), run("new", 1, verdict="violation"), run("stuck", 0, verdict="pass")]
    plans = [
        head(each, days, verdict=verdict) | {"row": 0, "plan_hash": "h", "steps": 1, "plan": f"the plan of {each}"}
        for each, days, verdict in (("old", 3, "violation"), ("new", 1, "violation"), ("stuck", 0, "inconclusive"))
    ]
    store.add({RUNS.name: runs, PLANS.name: plans})
    file = tmp_path / "plan.yaml"
    assert fencepost("show", "t", "--store", store.name, "--save-plan", str(file)).code == 0
    assert file.read_text() == "the plan of new"
    done = fencepost("show", "tt", "--store", store.name, "--save-plan", str(file))
    assert (done.code, "has no test tt; it has t" in done.err) == (64, True)
