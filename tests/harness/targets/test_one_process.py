"""Brokers that are one process: what is done to one is done to all. kfake is such a target."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fencepost.harness.engine.run import check_plan, run
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import topologies
from fencepost.harness.plan.model import Plan, Topology
from fencepost.harness.targets.registry import VARIABLE, load_file
from fencepost.harness.yaml_file import YamlFileError
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict
from fencepost.suites import vocabulary as v
from fencepost.suites.scenarios import SUITES
from fencepost.suites.target_facts import TargetFacts

ROOT = Path(__file__).parents[3]
KFAKE = ".tools/bin/kfake"
NODES = {"node-0", "node-1", "node-2"}


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))


@pytest.fixture(scope="module")
def kfake() -> str:
    """Return the target, once its program is built."""
    if not (ROOT / KFAKE).exists():
        subprocess.run([".ci/go", "harness/targets/kfake", KFAKE, "26"], cwd=ROOT, check=True)
    return "kfake"


def _plan(target: str, *steps: v.Step, held_back: tuple[str, ...] = ()) -> Plan:
    nodes = topologies.brokers((0, 1, 2), held_back=held_back)
    return Plan(
        scenario="s", title="s", document="d", seed=1, target=target, topology=Topology(nodes=nodes), steps=steps
    )


def test_a_target_of_one_process_promises_no_failover(tmp_path: Path) -> None:
    text = (ROOT / "harness" / "targets" / "kfake.yaml").read_text().replace("name: kfake", "name: other")
    path = tmp_path / "other.yaml"
    path.write_text(text.replace("failover: false, ", ""))
    with pytest.raises(YamlFileError, match=r"missing failover: with `one_process`"):
        load_file(str(path))


def test_no_broker_of_one_process_starts_later() -> None:
    with pytest.raises(UsageError, match="node-1 has `start: later`, and the brokers of kfake are one process"):
        check_plan(_plan("kfake", held_back=("node-1",)))


def test_the_first_of_fixed_brokers_can_be_alone() -> None:
    """`fencepost compare` asks one broker. Of two out of three it is not known that they make a cluster."""
    alone = _plan("kfake").model_copy(update={"topology": Topology(nodes=topologies.brokers((0,)))})
    check_plan(alone)
    with pytest.raises(UsageError, match="have the ids 0, 1, and those of kfake are 0, 1, 2"):
        check_plan(alone.model_copy(update={"topology": Topology(nodes=topologies.brokers((0, 1)))}))


@pytest.mark.integration
def test_a_fault_of_one_broker_is_a_fault_of_all(kfake: str, tmp_path: Path) -> None:
    steps = (
        v.inject("sleep", v.PauseParameters(nodes=("node-1", "node-2"))),
        v.Heal(as_="wake", fault="sleep"),
        v.inject("crash", v.KillParameters(nodes=("node-1", "node-2"))),
        v.Heal(as_="restart", fault="crash"),
        v.inject("end", v.TerminateParameters(nodes="node-2")),
        v.Heal(as_="start", fault="end"),
    )
    folder, verdict = run(_plan(kfake, *steps), tmp_path / "runs")
    assert verdict.verdict is Verdict.PASS, verdict.headline
    noted = read_journal(folder.journal)
    times = {"paused": 1, "resumed": 1, "killed": 1, "stopped": 1, "started": 3}
    seen = {phase: sorted(event.id for event in noted.of("node", phase)) for phase in times}
    assert seen == {phase: sorted([*NODES] * number) for phase, number in times.items()}
    by_start = [event.data["pid"] for event in noted.of("node", "started")]
    assert [len(set(by_start[at : at + 3])) for at in (0, 3, 6)] == [1, 1, 1]
    assert len(set(by_start)) == 3
    assert (folder.logs / "node-2.log").read_text() == (folder.logs / "node-0.log").read_text()


@pytest.mark.integration
def test_acknowledged_records_outlive_the_process_of_all_brokers(kfake: str, tmp_path: Path) -> None:
    [kill] = [each for each in SUITES["any"] if each.slug == "any-kill"]
    _, verdict = run(kill.plan(TargetFacts.of(kfake), 1), tmp_path / "runs")
    assert verdict.verdict is Verdict.PASS, verdict.headline


@pytest.mark.integration
def test_its_differences_are_found_by_the_suite_that_every_broker_owes(kfake: str, tmp_path: Path) -> None:
    text = (ROOT / "harness" / "targets" / "kfake.yaml").read_text()
    path = tmp_path / "unlisted.yaml"
    program = '"{{ folder }}/../../.tools/bin/kfake"'
    assert program in text
    kept = text.replace("name: kfake", "name: unlisted").replace(program, f'"{ROOT / KFAKE}"')
    path.write_text(kept[: kept.index("differences:")] + kept[kept.index("\nprocess:") :])
    [mistakes] = [each for each in SUITES["any"] if each.slug == "any-mistakes"]
    _, verdict = run(mistakes.plan(TargetFacts.of(str(path)), 1), tmp_path / "runs")
    assert verdict.verdict is Verdict.VIOLATION, verdict.headline
    broken = [finding for finding in verdict.findings if finding.verdict is Verdict.VIOLATION]
    assert {finding.requirement for finding in broken} == {"ADM-02"}
    named = " ".join(finding.message for finding in broken)
    for step in ("slash-in-name", "long-name", "no-name", "unknown-setting"):
        assert f"`{step}`" in named
