"""Every fault of the registry, on one small real cluster: proven when it works, and found out when it does nothing.

The fault that does nothing goes the whole way that any fault goes: the engine sets it up, journals its intent, finds no
effect, and the judge makes of that journal a run that concludes nothing, exit code 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from typer.testing import CliRunner

from fencepost.faults.capabilities import CapabilityError
from fencepost.faults.fault import Fault
from fencepost.faults.processes.pause import PauseParameters
from fencepost.faults.registry import FAULTS, build
from fencepost.harness.backends import DOCKER, PROCESS
from fencepost.harness.cli.main import app
from fencepost.harness.cluster.availability import unavailable_reason
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.active_faults import ActiveFaults
from fencepost.harness.engine.errors import FaultError
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.judge import judge
from fencepost.harness.plan.file import dump_plan
from fencepost.harness.plan.injects import Inject, inject
from fencepost.harness.plan.model import FaultProven, Plan, TopicSpec
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter, read_journal
from fencepost.results.records.verdict import RunVerdict, Verdict
from tests.faults.cases import CASES, CONTROLLER, ORIGINAL, SECURED
from tests.faults.real import capability, make_whole, plan, small_cluster, tidy

pytestmark = pytest.mark.integration

SOON = 0.3
"""Seconds until a test gives up what will not happen."""
ON_PROCESSES = [name for name, case in CASES.items() if PROCESS in case.backends]
ONLY_IN_CONTAINERS = [name for name, case in CASES.items() if case.backends == (DOCKER,)]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with small_cluster(tmp_path_factory.mktemp("every") / "run") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def contained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    from fencepost.harness.backends import check_backend

    try:
        check_backend(DOCKER)
    except InfrastructureError as error:
        pytest.skip(str(error))
    with small_cluster(tmp_path_factory.mktemp("contained") / "run", DOCKER) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with small_cluster(tmp_path_factory.mktemp("secured") / "run", security=SECURED) as cluster:
        yield cluster


@pytest.fixture
def cluster(name: str, request: pytest.FixtureRequest) -> Cluster:
    found: Cluster = request.getfixturevalue("running" if CASES[name].security == "plaintext" else "secured")
    make_whole(found)
    return found


@pytest.fixture
def container_cluster(contained: Cluster) -> Cluster:
    make_whole(contained)
    return contained


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (
        "fencepost.faults.clock.clock_fault.TIMEOUT_S",
        "fencepost.faults.identity.duplicate.READY_TIMEOUT_S",
        "fencepost.faults.links.cut_after_bytes.COUNTED_WITHIN",
        "fencepost.faults.links.link_fault.TIMEOUT_S",
        "fencepost.faults.processes.process_fault.END_TIMEOUT_S",
        "fencepost.faults.processes.process_fault.TIMEOUT_S",
        "fencepost.faults.identity.renewed_certificate.TIMEOUT_S",
        "fencepost.faults.users.credential_fault.TIMEOUT_S",
    ):
        monkeypatch.setattr(place, SOON)


def test_every_fault_is_tried_here() -> None:
    assert set(CASES) == set(FAULTS), "each fault of the registry has an entry in tests/faults/cases.py"


@pytest.mark.parametrize("name", ON_PROCESSES)
@pytest.mark.usefixtures("impatient")
def test_a_fault_that_does_nothing_makes_the_run_inconclusive(name: str, cluster: Cluster, tmp_path: Path) -> None:
    _skip_what_cannot_be_done(name, PROCESS)
    verdict = _without_effect(name, cluster, tmp_path)
    assert (verdict.verdict, verdict.verdict.exit_code) == (Verdict.INCONCLUSIVE, 3), verdict.findings
    assert f"the fault {name} did not take effect" in verdict.headline


@pytest.mark.usefixtures("impatient")
def test_a_whole_run_of_a_fault_that_does_nothing_concludes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command that people use; the others above are judged from the same journal and plan that it leaves."""
    monkeypatch.setattr("fencepost.faults.processes.pause.Pause.inject", lambda fault: None)
    whole = plan(breakable=False, clock=False)
    nodes = tuple(node for node in whole.topology.nodes if node.name in (CONTROLLER, ORIGINAL))
    small = {
        "topology": whole.topology.model_copy(update={"nodes": nodes}),
        "topics": (TopicSpec(name="t", assignments=((4,),)),),
        "steps": (inject("sleep", PauseParameters(nodes=ORIGINAL)),),
        "coverage": (FaultProven(fault="sleep"),),
    }
    file = tmp_path / "plan.yaml"
    file.write_text(dump_plan(whole.model_copy(update=small)))
    result = CliRunner().invoke(app, ["run", str(file), "--runs", str(tmp_path / "runs")])
    assert result.exit_code == 3, result.output
    assert "the fault sleep did not take effect" in " ".join(result.output.split())


@pytest.mark.parametrize("name", ON_PROCESSES)
def test_a_fault_is_proven_and_so_is_its_healing(name: str, cluster: Cluster, tmp_path: Path) -> None:
    _skip_what_cannot_be_done(name, PROCESS)
    assert _phases(name, cluster, tmp_path) == ["intent", "injected", "proven", "recovering", "healed"]


@pytest.mark.parametrize("name", ONLY_IN_CONTAINERS)
def test_a_fault_of_containers_is_found_out_and_proven(
    name: str, container_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _skip_what_cannot_be_done(name, DOCKER)
    assert _phases(name, container_cluster, tmp_path / "real") == [
        "intent",
        "injected",
        "proven",
        "recovering",
        "healed",
    ]
    make_whole(container_cluster)
    assert _without_effect(name, container_cluster, tmp_path / "idle").verdict is Verdict.INCONCLUSIVE


def _skip_what_cannot_be_done(name: str, backend: str) -> None:
    if reason := unavailable_reason(backend, capability(name)):
        pytest.skip(reason)


def _without_effect(name: str, cluster: Cluster, folder: Path) -> RunVerdict:
    """The verdict of a run whose one fault is set up, journalled and verified like any other, and does nothing."""
    fault = build(name, cluster, CASES[name].without_effect)
    fault.inject = lambda: None  # type: ignore[method-assign]
    run = RunFolder.create_at(folder / "run")
    with JournalWriter(run.journal) as journal:
        journal.write("run", name, "begin")
        active_faults = ActiveFaults(journal)
        journal.write("step", name, "begin", {"do": "inject", "number": 1})
        try:
            active_faults.inject(name, fault, CASES[name].without_effect)
        except FaultError as error:
            journal.write("step", name, "end", {"outcome": "failed", "message": str(error)})
        active_faults.heal_all()
        journal.write("run", name, "end")
    return judge(_plan(name, cluster.plan), read_journal(run.journal))


def _phases(name: str, cluster: Cluster, folder: Path) -> list[str]:
    """Return the phases in the journal of a fault that is injected and healed."""
    fault: Fault = build(name, cluster, CASES[name].real)
    run = RunFolder.create_at(folder / "run")
    with JournalWriter(run.journal) as journal:
        active_faults = ActiveFaults(journal)
        try:
            active_faults.inject(name, fault, CASES[name].real)
            active_faults.heal(name)
        finally:
            with suppress(CapabilityError):
                fault.recover()
            tidy(name, cluster)
    return [event.phase for event in read_journal(run.journal).of("fault")]


def _plan(name: str, ran: Plan) -> Plan:
    """The step is one that a plan can have: its parameters are those of the fault."""
    written = {"do": "inject", "as": name, "fault": name, **CASES[name].real}
    step = TypeAdapter[Inject](Inject).validate_python(written)
    return ran.model_copy(update={"steps": (step,), "coverage": (FaultProven(fault=name),)})
