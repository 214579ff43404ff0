"""A service beside the brokers: it starts once, and faults break its links and its process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fencepost.harness.backends import PROCESS
from fencepost.harness.engine.run import check_plan, run
from fencepost.harness.errors import UsageError
from fencepost.harness.plan import topologies
from fencepost.harness.plan.model import Plan, Topology
from fencepost.harness.targets.registry import VARIABLE, load_file
from fencepost.harness.yaml_file import YamlFileError
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict
from fencepost.suites import vocabulary as v
from fencepost.suites.scenarios import scenarios_for
from fencepost.suites.target_facts import TargetFacts

SEEN = Path(__file__).with_name("quorum-as-clients-see-it.yaml")
STORE = """\
import socket, sys
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("the store serves", flush=True)
held = []
while True:
    connection, _ = listener.accept()
    held.append(connection)
    if connection.recv(1, socket.MSG_PEEK) == b"?":
        connection.sendall(b"!")
"""
"""A store that answers a question, and holds each connection."""
CLIENT = """\
import os, socket, sys
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.sendall(b"+")
os.set_inheritable(connection.fileno(), True)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""A broker that has a connection to the store for as long as it runs."""
SERVICES = """\
services:
  store:
    command: ["{python}", store.py, "{{{{ address }}}}", "7000"]
    port: 7000
    ready: {{says: the store serves}}
    ask: "3f"
"""
COMMAND = '"{{ python }}", -m, fencepost.cluster_impl'
THROUGH_THE_LINK = '"{{ python }}", client.py, "{{ services.store.host }}", "{{ services.store.port }}", '
PAST_THE_LINK = '"{{ python }}", client.py, "{{ address.rpartition(\'.\')[0] }}.60", "7000", '


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))


def _target(folder: Path, reached: str = THROUGH_THE_LINK) -> str:
    text = SEEN.read_text() + SERVICES.format(python=sys.executable)
    assert COMMAND in text
    text = text.replace(COMMAND, reached + COMMAND).replace("name: quorum-as-clients-see-it", "name: with-a-store")
    path = folder / "with-a-store.yaml"
    path.write_text(text.replace("store.py", str(folder / "store.py")).replace("client.py", str(folder / "client.py")))
    (folder / "store.py").write_text(STORE)
    (folder / "client.py").write_text(CLIENT)
    return str(path)


def _plan(target: str, *steps: v.Step, services: bool = True) -> Plan:
    file = load_file(target)
    nodes = (*(topologies.services(file.services) if services else ()), *topologies.brokers(file.brokers.ids))
    return Plan(
        scenario="s",
        title="s",
        document="d",
        seed=1,
        target=file.name,
        topology=Topology(nodes=nodes),
        topics=(v.TopicSpec(name="t", assignments=((111,),)),),
        steps=tuple(steps),
        coverage=(v.StepDone(step=steps[-1].as_ or ""),),
    )


def test_a_plan_without_the_service_is_refused_with_the_line_that_it_lacks(tmp_path: Path) -> None:
    target = _target(tmp_path)
    check_plan(_plan(target, v.burst("served", "t", 1)))
    with pytest.raises(UsageError, match=r"lacks the service store .*: add \{name: store, id: 0, index: 60"):
        check_plan(_plan(target, v.burst("served", "t", 1), services=False))


def test_a_port_of_another_protocol_and_a_question_without_digits_are_refused(tmp_path: Path) -> None:
    path = Path(_target(tmp_path))
    for old, new, message in (("port: 7000", "port: 9092", "9092"), ('ask: "3f"', 'ask: "?"', "hexadecimal")):
        wrong = tmp_path / f"wrong-{old.partition(':')[0]}.yaml"
        wrong.write_text(path.read_text().replace(old, new))
        with pytest.raises(YamlFileError, match=message):
            load_file(str(wrong))


@pytest.mark.integration
def test_links_to_a_service_are_broken_and_its_process_ended_as_those_of_a_broker(tmp_path: Path) -> None:
    steps = (
        v.inject("parted", v.CutParameters(from_="node-111", to="store")),
        v.Heal(as_="joined", fault="parted"),
        v.inject("silent", v.StallParameters(from_="node-111", to="store")),
        v.Heal(as_="heard", fault="silent"),
        v.inject("crash", v.KillParameters(nodes="store")),
        v.Heal(as_="back", fault="crash"),
        v.burst("served", "t", 10),
    )
    folder, verdict = run(_plan(_target(tmp_path), *steps), tmp_path / "runs", PROCESS)
    assert verdict.verdict is Verdict.PASS, [finding.message for finding in verdict.findings]
    proven = [event.id for event in read_journal(folder.journal).of("fault", "proven")]
    assert proven == ["parted", "silent", "crash"]


@pytest.mark.integration
def test_the_scenario_of_services_is_one_for_targets_that_have_some(tmp_path: Path) -> None:
    target = TargetFacts.of(_target(tmp_path))
    [scenario] = [each for each in scenarios_for(target) if each.services]
    assert not scenario.applies_to(TargetFacts.of(str(SEEN)))
    folder, verdict = run(scenario.plan(target, 1), tmp_path / "runs", PROCESS)
    assert verdict.verdict is Verdict.PASS, [finding.message for finding in verdict.findings]
    assert [event.id for event in read_journal(folder.journal).of("fault", "proven")] == ["parted", "stalled"]


@pytest.mark.integration
def test_a_connection_to_a_service_past_its_link_is_found(tmp_path: Path) -> None:
    plan = _plan(_target(tmp_path, PAST_THE_LINK), v.burst("served", "t", 10))
    _, verdict = run(plan, tmp_path / "runs", PROCESS)
    assert verdict.verdict is Verdict.INFRASTRUCTURE
    assert "the address of store itself: that is none of its links" in verdict.headline
