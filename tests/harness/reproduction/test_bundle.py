"""A bundle is whole: its plan loads, its compose file is one, and its script does what the run did."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from cryptography.x509 import DNSName, IPAddress, SubjectAlternativeName, load_pem_x509_certificate
from ruamel.yaml import YAML

from fencepost.harness.backends.docker.images import SOURCES, reference_image
from fencepost.harness.engine.run import run
from fencepost.harness.errors import HarnessError, UsageError
from fencepost.harness.plan import dump_plan, load_plan
from fencepost.harness.plan.file import parse_plan
from fencepost.harness.plan.security import SecurityName
from fencepost.harness.reproduction.bundle.pack import SECURITY, bundle
from fencepost.harness.reproduction.bundle.schedule import schedule
from fencepost.harness.targets.certificates import KEYSTORE
from fencepost.harness.targets.identity import read_properties
from fencepost.harness.targets.registry import VARIABLE, load_file
from fencepost.results.records.folder import FolderError, Manifest, RunFolder
from fencepost.results.records.journal import JournalWriter
from fencepost.results.records.verdict import RunVerdict, Verdict
from fencepost.suites.scenarios import SUITES
from fencepost.suites.target_facts import TargetFacts
from tests.harness.checkers.journal_builder import JournalBuilder

AS_CLIENTS_SEE_IT = Path(__file__).parents[1] / "targets" / "quorum-as-clients-see-it.yaml"
SCRIPT = f"""\
#!/bin/sh
exec {sys.executable} -m fencepost.cluster_impl "$1"
"""
"""A program that has no image."""

PLAN = """\
format: fencepost-plan/2
scenario: lost
title: Records are lost
document: KIP-631
seed: 1
target: TARGET
topology:
  nodes:
  - NODE
  - {name: node-4, id: 4, index: 4, roles: [broker]}
  - {name: node-5, id: 5, index: 5, roles: [broker]}
  - {name: node-4b, id: 4, index: 14, roles: [broker], duplicate_of: node-4, start: later}
topics:
- {name: t, assignments: [[4, 5]]}
"""
NODES = {
    "quorum": "{name: node-1, id: 1, index: 1, roles: [controller]}",
    "leader-driven": "{name: zk-1, id: 1, index: 1, roles: [zookeeper]}",
}


def recorded_run() -> JournalBuilder:
    """A cut link is harmed again, a node is killed and started, a disk fails."""
    links = [{"from": "node-4", "to": "node-5", "effect": "cut"}]
    stalls = [{"from": "node-5", "to": "node-4", "effect": "latency 100 of replies, stall of requests"}]
    builder = JournalBuilder().event("run", "r", "begin").event("node", "node-4", "started", node="node-4")
    builder.at(2).event("step", "work", "begin", {"do": "workload"})
    builder.at(3).event("fault", "cut", "intent", {"fault": "cut", "links": links}).event("fault", "cut", "injected")
    builder.at(4).event("fault", "cut", "recovering")
    builder.at(5).event("fault", "hush", "intent", {"fault": "stall", "links": stalls}).event(
        "fault", "hush", "injected"
    )
    builder.at(6).event("fault", "gone", "intent", {"fault": "kill", "nodes": ["node-5"]})
    builder.event("node", "node-5", "killed", node="node-5").at(7).event("node", "node-5", "started", node="node-5")
    builder.event("fault", "on-off", "intent", {"fault": "flapping", "links": links})
    builder.event("fault", "bad", "intent", {"fault": "disk-error", "nodes": ["node-5"]})
    builder.event("fault", "bad", "injected")
    return builder


def test_the_script_does_what_the_journal_says_at_its_times() -> None:
    links = {("node-4", "node-5"): ("link-4-5",), ("node-5", "node-4"): ("link-5-4",)}
    found = schedule(recorded_run().journal(), links)
    assert [(round(action.at, 1), action.verb, action.words[:2]) for action in found.actions] == [
        (1.1, "cut", ("node-4", "link-4-5")),
        (2.0, "restore", ("node-4", "link-4-5")),
        (3.1, "harm", ("node-5", "link-5-4")),
        (3.1, "harm", ("node-5", "link-5-4")),
        (3.1, "harm", ("node-5", "link-5-4")),
        (4.1, "kill", ("node-5",)),
        (5.0, "start", ("node-5",)),
    ]
    assert [json.loads(action.words[2])["type"] for action in found.actions if action.verb == "harm"] == [
        "latency",
        "bandwidth",
        "slow_close",
    ]
    assert [re.split(r"[ :]", message)[0] for message in found.missing] == ["on-off", "bad"]


def test_the_script_says_which_nodes_it_does_not_upgrade() -> None:
    builder = JournalBuilder().event("node", "node-4", "started", {"release": "3.9.1"}, node="node-4")
    builder.event("node", "node-5", "started", {"release": "3.9.1"}, node="node-5")
    builder.at(2).event("step", "work", "begin", {"do": "workload"})
    builder.at(3).event("node", "node-5", "started", {"release": "3.9.1"}, node="node-5")
    assert schedule(builder.journal(), {}).missing == ()
    builder.at(4).event("node", "node-4", "started", {"release": "4.3.1"}, node="node-4")
    assert schedule(builder.journal(), {}).missing == (
        "node-4: another release was started there; the script starts the old one again.",
    )


def sample(path: Path, target: str = "quorum", security: SecurityName = "plaintext") -> RunFolder:
    folder = RunFolder.create_at(path / "2026-11-21-7f3c9a21")
    plan = parse_plan(PLAN.replace("TARGET", target).replace("NODE\n", f"{NODES[target]}\n"), "plan.yaml")
    plan = plan.model_copy(update={"security": security})
    folder.plan.write_text(dump_plan(plan))
    with JournalWriter(folder.journal) as journal:
        for event in recorded_run().events:
            journal.write(event.type, event.id, event.phase, event.data, node=event.node)
    RunVerdict(Verdict.VIOLATION, "3 records are lost", "lost", target, "7f3c", 9.0, 9, 0, ()).save(folder.verdict)
    Manifest(folder.name, "lost", target, "1", "process", 1, "7f3c", 0.0).save(folder.manifest)
    (folder.logs / "node-4.log").write_text("started\n")
    return folder


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle")
    return packed(sample(path), path)


def packed(run: RunFolder, path: Path) -> Path:
    """Return the folder that a bundle of the run unpacks to."""
    try:
        archive = bundle(run, path / "lost.tar.gz")
    except HarnessError as error:
        pytest.skip(f"nothing can be packed here: {error}")
    with tarfile.open(archive) as found:
        found.extractall(path / "elsewhere")  # ours: `filter` is newer than the oldest Python that we run on
    assert not list(path.glob(".bundle-*"))
    return path / "elsewhere" / "lost"


def test_a_bundle_holds_the_run_and_a_plan_that_loads(unpacked: Path) -> None:
    assert load_plan(unpacked / "plan.yaml").scenario == "lost"
    run = RunFolder.open(unpacked / "run")
    assert (run.logs / "node-4.log").read_text() == "started\n"
    assert all(path.is_file() for path in (run.manifest, run.journal, run.verdict, run.report))
    said = (unpacked / "README.md").read_text()
    assert "fencepost replay run --backend docker" in said
    assert "bad (disk-error): only fencepost can inject it" in said


def test_its_compose_file_has_a_pod_for_each_node_and_opens_nothing_to_others(unpacked: Path) -> None:
    services: dict[str, Any] = YAML(typ="safe").load(unpacked / "compose.yaml")["services"]
    nodes = {"node-1", "node-4", "node-5", "node-4b"}
    assert set(services) == nodes | {f"pod-{node}" for node in nodes} | {"sites"}
    assert services["node-4b"]["profiles"] == ["later"]
    for name in nodes:
        assert services[name]["network_mode"] == f"service:pod-{name}"
        config = unpacked / "images" / "reference" / "nodes" / name / "node.properties"
        assert config.is_file()
        assert str(unpacked) not in config.read_text()
        links = json.loads((unpacked / "images" / "pod" / "links" / f"{name}.json").read_text())
        assert {link["name"] for link in links} == {f"link-{name}-{peer}" for peer in nodes - {name}}
    ports = [port for service in services.values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.") for port in ports)


def test_what_it_builds_from_is_packed(unpacked: Path) -> None:
    for kind in ("pod", "reference"):
        context = unpacked / "images" / kind
        copied = re.findall(r"^COPY (?:--chown=\S+ )?(\S+) ", (context / "Dockerfile").read_text(), re.MULTILINE)
        assert [each for each in copied if not (context / each).exists()] == []


def test_its_script_is_one(unpacked: Path) -> None:
    script = unpacked / "faults.sh"
    assert script.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.parametrize("program", [("docker-compose",), ("docker", "compose")])
def test_compose_takes_its_file(unpacked: Path, program: tuple[str, ...]) -> None:
    if shutil.which(program[0]) is None or subprocess.run([*program, "version"], capture_output=True).returncode:
        pytest.skip(f"there is no {' '.join(program)} here")
    done = subprocess.run(
        [*program, "-f", "compose.yaml", "config"], cwd=unpacked, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "pod-node-4" in done.stdout


def test_containers_run_what_a_bundle_brought(unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = unpacked / "images" / "reference" / "code"
    monkeypatch.setenv(SOURCES, str(code))
    context = reference_image.__wrapped__("fencepost.cluster_impl").context
    assert context["code/fencepost/cluster_impl/__main__.py"] == code / "fencepost" / "cluster_impl" / "__main__.py"
    monkeypatch.setenv(SOURCES, str(unpacked))
    with pytest.raises(UsageError, match="where there is no cluster_impl: name a bundle's images/reference/code"):
        reference_image.__wrapped__("fencepost.cluster_impl")


def test_a_bundle_of_a_secured_run_has_keys_of_its_own_and_none_of_the_run(tmp_path: Path) -> None:
    run = sample(tmp_path, security="tls-scram")
    kept = run.nodes / "node-4"
    kept.mkdir()
    (kept / KEYSTORE).write_text("PRIVATE KEY of the run")
    unpacked = packed(run, tmp_path)
    assert load_plan(unpacked / "plan.yaml").security == "tls-scram"
    assert not list((unpacked / "run").rglob(KEYSTORE))
    authority = load_pem_x509_certificate((unpacked / SECURITY / "ca.pem").read_bytes())
    services = YAML(typ="safe").load(unpacked / "compose.yaml")["services"]
    published = {port.split(":")[0] for port in services["sites"]["ports"]} - {"127.0.0.1"}
    for name in ("node-1", "node-4", "node-5"):
        home = unpacked / "images" / "reference" / "nodes" / name
        certificate = load_pem_x509_certificate((home / KEYSTORE).read_bytes())
        certificate.verify_directly_issued_by(authority)
        names = certificate.extensions.get_extension_for_class(SubjectAlternativeName).value
        assert name in names.get_values_for_type(DNSName)
        if name != "node-1":
            assert published & set(map(str, names.get_values_for_type(IPAddress)))
        said = read_properties(home / "node.properties")
        assert said["ssl.keystore.location"] == f"/fencepost/nodes/{name}/{KEYSTORE}"
        assert "CONTROLLER:SASL_SSL" in said["listener.security.protocol.map"]
    readme = (unpacked / "README.md").read_text()
    assert f"ssl.ca.location={SECURITY}/ca.pem" in readme
    assert "sasl.username=client" in readme


def test_a_run_elsewhere_has_no_topology_to_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    (tmp_path / "ours.yaml").write_text(
        "name: ours\ntitle: ours\nversion: 1\ndialect: clients\nbrokers: {ids: [4]}\n"
        "running: {bootstrap: ['127.0.0.1:9092']}\n"
    )
    load_file(str(tmp_path / "ours.yaml"))
    run = sample(tmp_path)
    run.plan.write_text(run.plan.read_text().replace("target: quorum", "target: ours"))
    with pytest.raises(UsageError, match="ran on a cluster that runs elsewhere"):
        bundle(run, tmp_path / "b.tar.gz")


def test_a_run_is_not_packed_into_itself(tmp_path: Path) -> None:
    folder = sample(tmp_path)
    with pytest.raises(UsageError, match="is inside the folder that is to be packed: name another place with --out"):
        bundle(folder, folder.path / "b.tar.gz")


def test_a_folder_without_a_journal_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    folder = sample(tmp_path)
    folder.journal.unlink()
    with pytest.raises(FolderError, match=r"has no journal\.jsonl: there is no run to pack"):
        bundle(folder, tmp_path / "out" / "b.tar.gz")
    assert not (tmp_path / "out").exists()


def _foreign(folder: Path) -> Path:
    """Write the target file of a broker, and its program beside it."""
    program = folder / "bin" / "acme"
    program.parent.mkdir(parents=True)
    program.write_text(SCRIPT)
    program.chmod(0o755)
    text = AS_CLIENTS_SEE_IT.read_text().replace("name: quorum-as-clients-see-it", "name: acme")
    file = folder / "acme.yaml"
    file.write_text(text.replace('["{{ python }}", -m, fencepost.cluster_impl,', "[bin/acme,"))
    return file


def _fencepost(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fencepost.harness.cli", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.integration
def test_a_run_of_a_program_without_an_image_is_replayed_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive has the run and its target file. The packing machine's folder of the program is gone."""
    monkeypatch.setenv("FENCEPOST_TARGETS", "")
    [stop] = [each for each in SUITES["any"] if each.slug == "any-stop"]
    folder, verdict = run(stop.plan(TargetFacts.of(str(_foreign(tmp_path / "here"))), 1), tmp_path / "runs")
    assert verdict.verdict is Verdict.PASS, verdict.headline
    with tarfile.open(bundle(folder, tmp_path / "acme.tar.gz")) as found:
        found.extractall(tmp_path / "there")
    unpacked = tmp_path / "there" / "acme"
    assert {path.name for path in unpacked.iterdir()} == {"plan.yaml", "run", "README.md"}
    said = (unpacked / "README.md").read_text()
    assert "fencepost replay run --times 5\n" in said
    assert "docker" not in said
    shutil.rmtree(tmp_path / "here")
    monkeypatch.setenv("FENCEPOST_TARGETS", "")
    assert _fencepost(unpacked, "recheck", "run").returncode == 0
    assert _fencepost(unpacked, "replay", "run").returncode != 0
    _foreign(tmp_path / "installed")
    target = unpacked / "run" / "target" / "target.yaml"
    target.write_text(target.read_text().replace(str(tmp_path / "here"), str(tmp_path / "installed")))
    replayed = _fencepost(unpacked, "replay", "run")
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
