from __future__ import annotations

import re

import pytest

from fencepost.cluster_impl.designs.leader_driven.admin.__main__ import NOT_BEGUN, main
from fencepost.cluster_impl.designs.leader_driven.admin.cli.arguments import parse
from fencepost.cluster_impl.designs.leader_driven.admin.cli.commands import COMMANDS

SERVERS = ("--zookeeper", "127.0.0.1:2181")


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        parse(arguments)
    assert caught.value.code == NOT_BEGUN
    return capsys.readouterr().err


def help_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        parse([*arguments, "--help"])
    assert caught.value.code == 0
    return capsys.readouterr().out


def test_the_help_names_every_command_and_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of(capsys)
    assert all(name in text for name in COMMANDS)
    assert re.findall(r"^  (\d)  ", text, re.MULTILINE) == ["0", "1", "2"]


def test_the_examples_of_the_help_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    help_text = help_of(capsys)
    [common] = re.findall(r'admin="python -m fencepost[a-z_.]+\.admin (--.*?)"', help_text)
    examples = re.findall(r"^  \$admin (.*)$", help_text, re.MULTILINE)
    assert {parse([*common.split(), *example.split()]).command for example in examples} >= {
        *("create-topic", "delete-topic", "add-partitions", "reassign", "describe", "queues"),
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str], command: str) -> None:
    text = help_of(capsys, *SERVERS, command)
    assert "fencepost.cluster_impl.designs.leader_driven.admin" in text or "usage:" in text
    assert len(text.splitlines()) > 3


def test_what_is_given_is_read() -> None:
    created = parse([*SERVERS, "create-topic", "t", "--replicas", "4,5", "5,6", "--config", "a=b", "c=d=e"])
    assert created.arguments.replicas == [[4, 5], [5, 6]]
    assert created.arguments.config == [("a", "b"), ("c", "d=e")]
    moved = parse(["--zookeeper", "a:1,b:2/kafka", "--timeout", "2.5", "reassign", "t", "0=5,6", "3=4"])
    assert (moved.zookeeper, moved.timeout, moved.queue_capacity) == ("a:1,b:2/kafka", 2.5, 1000)
    assert moved.arguments.moves == [(0, [5, 6]), (3, [4])]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["describe"], "the following arguments are required: --zookeeper"),
        (["--zookeeper", "nowhere", "describe"], "'nowhere' is not HOST:PORT"),
        ([*SERVERS], "the following arguments are required: COMMAND"),
        ([*SERVERS, "explode"], "invalid choice: 'explode'"),
        ([*SERVERS, "create-topic", "t", "--partitions", "0"], "'0' is not a number greater than 0"),
        ([*SERVERS, "create-topic", "t", "--replicas", "4,x"], "'4,x' is not a list of broker ids like 4,5,6"),
        ([*SERVERS, "create-topic", "t", "--config", "a"], "'a' is not NAME=VALUE"),
        ([*SERVERS, "add-partitions", "t"], "required: --to"),
        ([*SERVERS, "reassign", "t", "0:4"], "'0:4' is not PARTITION=ID,ID,..."),
        ([*SERVERS, "reassign", "t", "0=5", "1=5", "0=6"], "partition 0 is named more than once"),
        ([*SERVERS, "remove-broker", "-1"], "'-1' is not a whole number from 0 on"),
        ([*SERVERS, "remove-broker", "four"], "'four' is not a whole number from 0 on"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_message(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert message in refusal(capsys, *arguments)


def test_without_a_zookeeper_nothing_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.cluster_impl.designs.leader_driven.admin.cli.session.CONNECT_SECONDS", 0.3)
    assert main(["--zookeeper", "127.0.0.1:1", "describe"]) == NOT_BEGUN
    assert capsys.readouterr().err.startswith("Nothing was done: no ZooKeeper of 127.0.0.1:1 gave a session")
