"""`doctor --target` and `target init`: a broker is started, asked and ended, and its target file is made to fit."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from fencepost.harness.cli.target_init import command_of, target_file
from fencepost.harness.doctor.advice import advice
from fencepost.harness.doctor.broker import Answers
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.needed_requests import CLASSIC, COORDINATED
from fencepost.harness.targets.registry import VARIABLE, load_file
from tests.harness.cli.conftest import Fencepost
from tests.waiting import eventually

SEEN = Path(__file__).parents[1] / "targets" / "quorum-as-clients-see-it.yaml"
FITTING = Answers(
    target="acme:1",
    node="node-111",
    id=111,
    started=1.0,
    listed={111: "127.20.200.4:9092"},
    advertised="127.20.200.4:9092",
    at_peer_port=True,
    offered={"produce": (0, 9), "create_topics": (0, 7)},
    creation="none",
    creation_at_second=None,
    listed_by_second={},
    internal_topics=(),
    coordinators={},
    files=("data/fencepost-doctor-0/00000000000000000000.log",),
    exit_code=0,
    ended=0.1,
)
NEEDED = {"produce": "the producer p1 of any-kill", "create_topics": "the topic t of any-kill"}


@pytest.fixture(autouse=True)
def own_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")


def _target(folder: Path, *changes: tuple[str, str]) -> Path:
    text = SEEN.read_text().replace("quorum-as-clients-see-it", "acme")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "acme.yaml"
    path.write_text(text)
    return path


def test_answers_that_fit_ask_for_no_line(tmp_path: Path) -> None:
    assert advice(load_file(str(_target(tmp_path))), FITTING, NEEDED) == []


@pytest.mark.parametrize(
    ("changes", "line", "why", "wrong"),
    [
        ({"listed": {7: FITTING.advertised}}, "brokers: {ids: [7]}", "the ids of the file are 111", True),
        ({"listed": {}}, "", "lists no broker", True),
        ({"listed": {111: "127.20.0.4:9092"}}, "{{ advertised_client }}", "past the link", True),
        ({"at_peer_port": False}, "one_listener: true", "at no other port", True),
        ({"offered": {"produce": (0, 9)}}, "missing_requests: [create_topics]", "create_topics (the topic t", True),
        ({"exit_code": 2}, "exit_codes: [2]", "ended with exit code 2 on SIGTERM", True),
        ({"exit_code": None}, "", "still ran 10 s after SIGTERM", False),
        ({"files": ()}, "promises: {survives: pause}", "wrote no file", False),
    ],
)
def test_each_answer_that_the_file_contradicts_gives_the_line_to_write(
    changes: dict[str, object], line: str, why: str, wrong: bool, tmp_path: Path
) -> None:
    [given] = advice(load_file(str(_target(tmp_path))), replace(FITTING, **changes), NEEDED)  # type: ignore[arg-type]
    assert (given.line, given.wrong) == (line, wrong)
    assert why in given.why


def test_clients_of_which_a_broker_has_all_requests_are_proposed(tmp_path: Path) -> None:
    file = load_file(str(_target(tmp_path, ("workloads: {groups: null}", "workloads: {}"))))
    offered = {**FITTING.offered, **dict.fromkeys((*COORDINATED, *CLASSIC), (0, 1))}
    [given] = advice(file, replace(FITTING, offered=offered), NEEDED)
    assert (given.line, given.wrong) == ("workloads: {groups: null}", False)


def test_a_request_that_the_file_calls_missing_and_the_broker_serves_is_named(tmp_path: Path) -> None:
    path = _target(tmp_path)
    path.write_text(f"{path.read_text()}missing_requests: [produce, end_txn]\n")
    [given] = advice(load_file(str(path)), FITTING, NEEDED)
    assert given.line == "missing_requests: [end_txn]"
    assert "serves produce" in given.why


def test_blanks_in_variables_separate_no_command_of_a_command_line() -> None:
    command = "bin/acme 'two words' --at {{ address }}:{{ client_port }} {% if id %}x y{% endif %}"
    assert command_of(command)[:4] == ["bin/acme", "two words", "--at", "{{ address }}:{{ client_port }}"]
    with pytest.raises(UsageError, match="No closing quotation"):
        command_of("acme 'open")
    with pytest.raises(UsageError, match="empty"):
        command_of(" ")


def test_a_written_file_has_no_key_that_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "acme.yaml"
    path.write_text(target_file("acme", ["acme", "--at", "{{ address }}"]))
    assert "missing_requests" not in path.read_text()
    assert "one_listener" not in path.read_text()
    assert load_file(str(path)).promises.survives == "pause"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--command", "acme", "--to", "FOLDER/there.yaml"], "there.yaml exists already"),
        (["--command", "acme {{ adress }}", "--to", "FOLDER/new.yaml"], "did you mean `address`"),
        ([], "name the command line"),
    ],
)
def test_a_mistake_ends_before_anything_starts_and_nothing_is_written(
    arguments: list[str], message: str, fencepost: Fencepost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there.yaml").write_text("mine")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    done = fencepost("target", "init", *(each.replace("FOLDER", str(tmp_path)) for each in arguments))
    assert done.code == 64
    assert message in done.err
    assert (tmp_path / "there.yaml").read_text() == "mine"
    assert not (tmp_path / "new.yaml").exists()


@pytest.mark.integration
def test_a_file_that_fits_its_broker_gets_no_line_and_nothing_runs_on(fencepost: Fencepost) -> None:
    done = fencepost("doctor", "--target", str(SEEN), "--json")
    assert done.code == 0, done.out
    report = json.loads(done.out)
    broker = report["broker"]
    assert list(broker["listed"]) == ["111"]
    assert broker["offered"]["create_topics"][1] >= 5
    assert (broker["creation"], broker["exit_code"]) == ("none", 0)
    assert any("fencepost-doctor-0/" in file for file in broker["files"])
    left = [each["scenario"] for each in report["scenarios"] if each["unavailable_reason"] is None]
    assert {"any-kill", "any-mistakes"} <= set(left)
    assert "any-transactions" not in left
    assert not any(each["wrong"] for each in report["write"])
    assert not psutil.Process().children(recursive=True)


@pytest.mark.integration
def test_a_file_that_does_not_fit_gets_its_lines_and_then_fits(fencepost: Fencepost, tmp_path: Path) -> None:
    path = _target(tmp_path, ('broker.id: "{{ id }}"', 'broker.id: "112"'))
    done = fencepost("doctor", "--target", str(path))
    assert done.code == 1
    assert "brokers: {ids: [112]}" in done.out
    path.write_text(path.read_text().replace("ids: [111]", "ids: [112]"))
    assert fencepost("doctor", "--target", str(path)).code == 0


@pytest.mark.integration
def test_a_broker_that_does_not_start_is_named_with_its_last_words(fencepost: Fencepost, tmp_path: Path) -> None:
    path = _target(tmp_path, ("-m, fencepost.cluster_impl,", "-c, \"raise SystemExit('no disk for me')\","))
    done = fencepost("doctor", "--target", str(path))
    assert done.code == 2
    assert "no disk for me" in done.err


@pytest.mark.integration
def test_an_interrupt_ends_the_broker_with_the_doctor(tmp_path: Path) -> None:
    started = tmp_path / "started"
    code = f"import pathlib, time; pathlib.Path({str(started)!r}).touch(); time.sleep(600)"
    path = _target(tmp_path, ("-m, fencepost.cluster_impl,", f'-c, "{code}",'))
    argv = [sys.executable, "-m", "fencepost.harness.cli", "doctor", "--target", str(path)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "runtime")}
    doctor = subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(started.exists, within=60)
    brokers = psutil.Process(doctor.pid).children(recursive=True)
    doctor.send_signal(signal.SIGINT)
    assert doctor.wait(60) == 130
    eventually(lambda: not any(each.is_running() and each.status() != "zombie" for each in brokers), within=20)


@pytest.mark.integration
def test_a_command_line_alone_becomes_a_file_that_fits(fencepost: Fencepost, tmp_path: Path) -> None:
    program = tmp_path / "small"
    program.write_text(SMALL.format(python=sys.executable))
    program.chmod(0o755)
    to = tmp_path / "small.yaml"
    command = f"{program} {{{{ address }}}} {{{{ client_port }}}} {{{{ advertised_client }}}} {{{{ data }}}}"
    done = fencepost("target", "init", "--command", command, "--to", str(to))
    assert done.code == 0, done.out + done.err
    file = load_file(str(to))
    assert (file.brokers.ids, file.one_listener, file.promises.survives) == ((7,), True, "kill")
    assert "create_partitions" not in file.missing_requests
    assert len(to.read_text().splitlines()) <= 15


SMALL = """\
#!/bin/sh
# A broker with an id and a cluster of its own, and no listener but that for clients.
mkdir -p "$4"
cat >"$4/../small.properties" <<END
process.roles=broker,controller
cluster.id=small-cluster-of-one-x
controller.connect=1@$1:9091
listener.security.protocol.map=CONTROLLER:PLAINTEXT,CLIENT:PLAINTEXT
listeners=CONTROLLER://$1:9091,CLIENT://$1:$2
advertised.listeners=CONTROLLER://$1:9091,CLIENT://$3
controller.id=1
controller.listeners=CONTROLLER
broker.id=7
inter.broker.listener.name=CLIENT
log.dirs=$4
metadata.log.dir=$4/../metadata
END
exec {python} -m fencepost.cluster_impl "$4/../small.properties"
"""
