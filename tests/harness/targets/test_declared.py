"""Each way in which a broker differs from Apache Kafka can be declared, and has its effect."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from fencepost.faults.capabilities import ProbeResult
from fencepost.harness.checkers.checker import Need
from fencepost.harness.checkers.recorded_run import RecordedRun
from fencepost.harness.cluster.cluster import lay_out
from fencepost.harness.engine.run import check_plan, run
from fencepost.harness.errors import UsageError
from fencepost.harness.network.addresses import LAST_K, PROTOCOL_PORTS, Addresses, Endpoint
from fencepost.harness.network.roundtrip import round_trip
from fencepost.harness.plan import topologies
from fencepost.harness.plan.conditions.log_end import LogEnd
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan, TopicSpec, Topology, WorkloadSpec
from fencepost.harness.targets.file import TargetFile
from fencepost.harness.targets.fitting import check_design
from fencepost.harness.targets.registry import VARIABLE, load_file
from fencepost.harness.yaml_file import YamlFileError
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import RunVerdict, Verdict
from fencepost.suites import vocabulary as v
from fencepost.suites.scenarios import SUITES
from fencepost.suites.target_facts import TargetFacts
from tests.harness.targets.test_one_process import ROOT, kfake

__all__ = ["kfake"]
SEEN = Path(__file__).with_name("quorum-as-clients-see-it.yaml")
COMMAND = '"{{ python }}", -m, fencepost.cluster_impl'
ENDS_WITH_3 = """\
import signal, subprocess, sys, time
broker = subprocess.Popen(sys.argv[1:])
signal.signal(signal.SIGTERM, lambda *_: broker.terminate())
while broker.poll() is None:
    time.sleep(0.02)
sys.exit(3)
"""


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))


def _target(folder: Path, *lines: str, changes: tuple[tuple[str, str], ...] = ()) -> str:
    text = SEEN.read_text().replace("quorum-as-clients-see-it", "acme")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "acme.yaml"
    path.write_text(text + "".join(f"{line}\n" for line in lines))
    return str(path)


def _plan(target: str, *steps: v.Step, workload: WorkloadSpec | None = None) -> Plan:
    return Plan(
        scenario="s",
        title="s",
        document="d",
        seed=1,
        target=load_file(target).name,
        topology=Topology(nodes=topologies.brokers([111])),
        topics=(TopicSpec(name="t", assignments=((111,),)),),
        workload=workload or WorkloadSpec(),
        steps=steps,
    )


def _ran(slug: str, target: str, folder: Path) -> RunVerdict:
    [scenario] = [each for each in SUITES["any"] if each.slug == slug]
    return run(scenario.plan(TargetFacts.of(target), 1), folder / "runs")[1]


@pytest.mark.integration
@pytest.mark.parametrize(("lines", "verdict"), [(("exit_codes: [3]",), Verdict.PASS), ((), Verdict.VIOLATION)])
def test_an_exit_code_on_sigterm_is_orderly_if_the_target_says_so(
    lines: tuple[str, ...], verdict: Verdict, tmp_path: Path
) -> None:
    (tmp_path / "ends.py").write_text(ENDS_WITH_3)
    wrapped = f'"{sys.executable}", "{tmp_path}/ends.py", {COMMAND}'
    found = _ran("any-stop", _target(tmp_path, *lines, changes=((COMMAND, wrapped),)), tmp_path)
    assert found.verdict is verdict, found.headline
    if verdict is Verdict.VIOLATION:
        broken = {each.requirement for each in found.findings if each.verdict is Verdict.VIOLATION}
        assert broken == {"LIVE-07"}
        assert "exit code 3" in found.headline


@pytest.mark.integration
def test_topics_come_into_being_by_use_where_no_request_creates_them(tmp_path: Path) -> None:
    auto = (("auto.create.topics.enable: false", "auto.create.topics.enable: true"),)
    lacks = "missing_requests: [create_topics]"
    sent = v.ProducerSpec(name="p", topic="t", rate=50)
    steps = (v.Workload(as_="work", action="start"), v.WorkloadAcks(as_="acked", more=20))
    target = _target(tmp_path, lacks, changes=auto)
    with pytest.raises(UsageError, match="the topic t needs create_topics"):
        check_plan(_plan(target, *steps))
    target = _target(tmp_path, lacks, "topics: by use", changes=auto)
    _, verdict = run(_plan(target, *steps, workload=WorkloadSpec(producers=(sent,))), tmp_path / "runs")
    assert verdict.verdict is Verdict.PASS, verdict.headline
    target = _target(tmp_path, "topics: by use")
    _, verdict = run(_plan(target, *steps, workload=WorkloadSpec(producers=(sent,))), tmp_path / "runs")
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert "the topic t could not be created" in verdict.headline


@pytest.mark.integration
def test_a_redirection_is_a_defect_where_each_broker_takes_administrators(kfake: str, tmp_path: Path) -> None:
    """The brokers of kfake send administrators to the last of them."""
    text = (ROOT / "harness" / "targets" / "kfake.yaml").read_text().replace("name: kfake", "name: strict")
    path = tmp_path / "strict.yaml"
    path.write_text(f"{text}administration: any broker\n".replace("{{ folder }}/../..", str(ROOT)))
    facts = TargetFacts.of(str(path))
    [scenario] = [each for each in SUITES["any"] if each.slug == "any-as-asked"]
    plans = (scenario.plan(facts, seed) for seed in range(10))
    elsewhere = next(plan for plan in plans if {step.node for step in plan.steps if step.as_ == "grow"} != {"node-2"})  # type: ignore[union-attr]
    found = run(elsewhere, tmp_path / "runs")[1]
    assert found.verdict is Verdict.VIOLATION, found.headline
    assert "refused not_controller" in found.headline


def test_what_a_control_plane_shows_decides_the_rest_if_the_file_does_not(tmp_path: Path) -> None:
    seen, quorum = load_file(_target(tmp_path)), load_file("quorum")
    assert (seen.redirects, seen.finds_coordinators) == (True, True)
    assert (quorum.redirects, quorum.finds_coordinators) == (False, False)
    changed = quorum.model_copy(update={"administration": "controller", "coordinators": "find"})
    assert (changed.redirects, changed.finds_coordinators) == (True, True)


def test_without_log_files_no_step_and_no_rule_reads_them(tmp_path: Path) -> None:
    def plan(file: TargetFile) -> None:
        step = LogEnd(as_="end", node="node-4", partition="t-0", at_least=1)
        topology = Topology(nodes=(*topologies.controllers(), *topologies.brokers()))
        target = Plan(scenario="s", title="s", document="d", seed=1, target="quorum", topology=topology, steps=(step,))
        check_design(file, target)

    quorum = load_file("quorum")
    plan(quorum)
    with pytest.raises(UsageError, match="the step end reads log files, and quorum has none"):
        plan(quorum.model_copy(update={"log_files": "none"}))
    seen = RecordedRun(_plan(_target(tmp_path)), Journal(()), tmp_path, Dialect.KRAFT)
    assert seen.has(Need.LOGS)
    without = RecordedRun(_plan(_target(tmp_path)), Journal(()), tmp_path, Dialect.KRAFT, log_files=False)
    assert not without.has(Need.LOGS)


@contextmanager
def _answering(status: int) -> Iterator[Endpoint]:
    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/ready" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Health)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Endpoint("127.0.0.1", server.server_port)
    finally:
        server.shutdown()
        server.server_close()


def test_health_is_asked_at_its_own_port_and_only_a_success_is_a_sign_of_life(tmp_path: Path) -> None:
    target = _target(tmp_path, 'health: {port: 8080, request: "GET /ready HTTP/1.0\\r\\n\\r\\n"}')
    [node] = lay_out(_plan(target), Addresses(LAST_K), load_file(target)).nodes
    assert node.sign_of_life == Endpoint(node.address, 8080)
    assert node.health_question is not None
    for status, reach in ((200, ProbeResult.ANSWERED), (503, ProbeResult.CLOSED)):
        with _answering(status) as endpoint:
            assert round_trip(endpoint, 5.0, asked=node.health_question).reach is reach
    [without] = lay_out(_plan(_target(tmp_path)), Addresses(LAST_K), load_file(_target(tmp_path))).nodes
    assert without.sign_of_life == without.front


@pytest.mark.parametrize("port", sorted(PROTOCOL_PORTS))
def test_health_has_a_port_of_its_own(port: int, tmp_path: Path) -> None:
    with pytest.raises(YamlFileError, match="another protocol"):
        load_file(_target(tmp_path, f"health: {{port: {port}}}"))
