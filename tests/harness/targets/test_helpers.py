"""A helper that the script of a target file starts beside its broker belongs to the node."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fencepost.faults.registry import build
from fencepost.harness.cleaning import cleanup
from fencepost.harness.cleaning.cleanup import dead_runs
from fencepost.harness.cli.clean import clean
from fencepost.harness.cli.commands.machine import CleanOptions
from fencepost.harness.cli.interactive import interactive_plan
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.processes import table
from fencepost.harness.processes.command import no_name_tables
from fencepost.harness.processes.records import HARNESS, ProcessRecords
from fencepost.harness.processes.table import Identity
from fencepost.harness.targets.registry import VARIABLE, load
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter
from tests.harness.processes.test_records import await_environment
from tests.harness.targets.test_command import BY_COMMAND
from tests.waiting import eventually

pytestmark = pytest.mark.integration

HELPER = """\
import os, socket, sys, time
own, past = sys.argv[1:]
if os.fork():
    os._exit(0)
os.setsid()
listener = socket.create_server((own, 9555))
while True:
    try:
        connection = socket.create_connection((past, 9092))
        break
    except OSError:
        time.sleep(0.05)
print(f"helper {os.getpid()} listens", flush=True)
time.sleep(600)
"""
"""It leads a session of its own, listens at the address of the node, and dials a broker past its link."""

SCRIPT = '[./start.sh, "{{ address }}", "{{ name }}", "{{ python }}", "{{ properties }}"]'


@pytest.fixture
def target_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The reference cluster by the driver `command`, by a script that starts a helper, as documented."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "start.sh").write_text(
        '#!/bin/sh\npast=${1%.*}.5\n[ "$2" = node-4 ] && "$3" "$(dirname "$0")"/helper.py "$1" "$past"\nshift 2\n'
        'exec "$1" -m fencepost.cluster_impl "$2"\n'
    )
    (tmp_path / "start.sh").chmod(0o755)
    line = '["{{ python }}", -m, fencepost.cluster_impl, "{{ properties }}"]'
    text = BY_COMMAND.read_text()
    assert line in text
    path = tmp_path / "with-helper.yaml"
    path.write_text(
        text.replace(line, '[./start.sh, "{{ address }}", "{{ name }}", "{{ python }}", "{{ properties }}"]')
    )
    return path


@pytest.mark.skipif(no_name_tables() is not None, reason=f"no name tables: {no_name_tables()}")
def test_a_helper_is_audited_and_ends_with_sigterm_to_its_node(target_file: Path, tmp_path: Path) -> None:
    plan, run = interactive_plan(str(target_file)), RunFolder.create_at(tmp_path / "run")

    def helpers() -> list[Identity | None]:
        lines = (run.logs / "node-4.log").read_text().splitlines()
        return [table.identify(int(line.split()[1])) for line in lines if line.startswith("helper ")]

    with closing(JournalWriter(run.journal)) as journal, Cluster(plan, run, journal, load(plan.target)) as cluster:
        cluster.start([node.name for node in plan.topology.nodes if node.start == "now"])
        eventually(lambda: len(helpers()) == 1, "the helper listens")
        assert f"node-4 is connected to {cluster.node('node-5').address}:9092" in cluster.problems()[0]
        fault = build("terminate", cluster, {"nodes": ["node-4"]})
        fault.set_up()
        fault.inject()
        assert fault.verify().proven
        assert helpers() == [None]
        fault.recover()
        assert fault.verify_healed().proven
        eventually(lambda: len(helpers()) == 2, "a helper of the second process listens")
        assert "Address already in use" not in (run.logs / "node-4.log").read_text()
    assert helpers() == [None, None]


@pytest.fixture
def left_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """A process that lives on after its run has given back its addresses and its harness has died."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    run = tmp_path / "run"
    run.mkdir()
    with subprocess.Popen(["true"]) as ended:
        boot, namespace, _, _ = table.own_harness_id().split("/")
    stamp = ProcessRecords(run / "processes.jsonl").intend("node-4", ["start.sh"])
    environment = {**os.environ, **stamp, HARNESS: f"{boot}/{namespace}/{ended.pid}/1"}
    serve = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", serve], env=environment) as helper:
        await_environment(helper.pid, HARNESS)
        yield run, helper
        helper.kill()


def test_clean_finds_a_helper_by_its_token_after_the_addresses_were_given_back(
    left_helper: tuple[Path, subprocess.Popen[bytes]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, helper = left_helper
    assert run in dead_runs()
    # Other runs of this machine are no matter of this test.
    monkeypatch.setattr(cleanup, "dead_runs", lambda: [run])
    assert clean(CleanOptions(dry_run=True)) == 0
    assert f"would remove process node-4 (pid {helper.pid})" in capsys.readouterr().out
    assert helper.poll() is None
    assert clean(CleanOptions()) == 0
    assert helper.wait(10) == -9
