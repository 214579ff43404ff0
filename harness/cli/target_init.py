"""`fencepost target init`: the target file of a broker, written from its command line and its answers."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from fencepost.harness.cli.commands.targets import InitOptions
from fencepost.harness.cli.target_report import examined, needed_by, reported, show
from fencepost.harness.doctor.advice import served_workloads
from fencepost.harness.doctor.broker import Answers
from fencepost.harness.errors import UsageError
from fencepost.harness.targets.running import words_of
from fencepost.harness.terminal import terminal
from fencepost.suites.target_facts import TargetFacts

ASKED = """\
The command line of one broker, with variables in place of its addresses and folders:
  {{ address }}            the address that it binds        {{ client_port }}   its port for clients, 9092
  {{ advertised_client }}  the host:port that it tells      {{ data }}          its folder
  {{ id }}                 its id, if it takes one          docs/your-own-broker.md has all others"""


def init(options: InitOptions) -> int:
    """Start the broker, ask it, and write the file. Return 0, or 1 if the file cannot say all that it should.

    UsageError for a file that exists or a mistake in the command line, InfrastructureError for a broker that does not
    start; nothing is written then.
    """
    words = command_of(options.command or _asked_for())
    name = options.name or _name(words[0])
    path = free_path(options, name)
    terminal().print(f"starting a broker by {words[0]} …", highlight=False)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fencepost-init-") as scratch:
        draft = Path(scratch, "draft.yaml")
        draft.write_text(target_file(name, words, folder=str(path.parent.resolve())))
        answers = examined(str(draft))
        draft.write_text(target_file(name, words, **measured(answers, frozenset())))
        lacks = needed_by(TargetFacts.of(str(draft))).keys() - answers.offered.keys()
    path.write_text(target_file(name, words, **measured(answers, lacks)))
    report = reported(str(path), answers, time.monotonic() - began)
    show(report)
    named = path if path.is_absolute() else f"./{path}"
    terminal().print(f"{path} is written: `fencepost conformance --target {named}`", highlight=False)
    return 0 if report.fits else 1


def free_path(options: InitOptions, name: str) -> Path:
    """Return the path of the file to write. UsageError if there is one."""
    path = options.to or Path(f"{name}.yaml")
    if path.exists():
        raise UsageError(f"{path} exists already: name another file with --to, or remove it")
    return path


def _asked_for() -> str:
    if not sys.stdin.isatty():
        raise UsageError("name the command line of one broker: --command 'bin/acme --listen {{ address }} …'")
    terminal().print(ASKED, highlight=False)
    return str(typer.prompt("command line"))


def command_of(line: str) -> list[str]:
    """Return the words of a command line. Raise UsageError if there are none, or it cannot be read."""
    try:
        words = words_of(line)
    except ValueError as error:
        raise UsageError(f"the command line cannot be read: {error}: {line}") from None
    if not words:
        raise UsageError("the command line is empty: it names the program first")
    return words


def _name(program: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", Path(program).stem.lower()).strip("-")
    if not name:
        raise UsageError(f"{program} gives no name for the target: name one with --name")
    return name


def measured(answers: Answers, lacks: Collection[str]) -> dict[str, Any]:
    """Return the keys of a target file that follow from the answers of its broker."""
    by_id = list(answers.listed) == [answers.id]
    keys: dict[str, Any] = {
        "brokers": {"count": 1} if by_id else {"ids": list(answers.listed) or [answers.id]},
        "one_listener": not answers.at_peer_port,
        "survives": "kill" if answers.files else "pause",
        "workloads": dict.fromkeys(served_workloads(answers.offered)),
        "missing_requests": sorted(lacks),
    }
    return keys


def target_file(name: str, words: Sequence[str], **keys: Any) -> str:
    """Return the text of a target file of a broker that shows no control plane."""
    promises = {"replication": "none", "failover": False, "fencing": False, "survives": keys.get("survives", "pause")}
    lines = {
        "name": name,
        "title": f"the broker {name}",
        "version": '"1"',
        "dialect": "clients",
        "brokers": keys.get("brokers", {"count": 1}),
        "one_listener": keys.get("one_listener", False),
        "promises": promises,
        "capabilities": ["links", "pause", "terminate", "kill"],
        "workloads": keys.get("workloads", {}),
        "missing_requests": keys.get("missing_requests", []),
        "clusters_per_core": 1,
        "folder": keys.get("folder"),
    }
    text = written(lines)
    command = ", ".join(json.dumps(word, ensure_ascii=False) for word in words)
    return f"{text}process:\n  command: {{broker: [{command}]}}\n"


def written(lines: Mapping[str, Any], indent: str = "") -> str:
    """Return these keys of a file, each on a line; one that says nothing has none."""
    said = {key: value for key, value in lines.items() if value not in (None, [], {}, False)}
    return "".join(f"{indent}{key}: {_flow(value)}\n" for key, value in said.items())


def _flow(value: Any) -> str:
    """Return a value as YAML has it on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case bool() | None:
            return json.dumps(value)
    return str(value)
