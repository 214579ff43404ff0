"""`fencepost target init --bootstrap`: the target file of a cluster that runs elsewhere, written from its answers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fencepost.harness.cli.commands.targets import InitOptions
from fencepost.harness.cli.elsewhere_report import doctor_elsewhere
from fencepost.harness.cli.target_init import free_path, written
from fencepost.harness.cli.target_report import needed_by
from fencepost.harness.doctor.advice import served_workloads
from fencepost.harness.doctor.elsewhere import ask
from fencepost.harness.errors import UsageError
from fencepost.harness.targets.consent import give_consent
from fencepost.harness.targets.elsewhere import Elsewhere
from fencepost.harness.targets.registry import load
from fencepost.harness.terminal import terminal
from fencepost.suites.target_facts import TargetFacts

NAME = "running"
"""The name of the target, if none is given."""
SOME_ID = 0
"""Stands for the ids of brokers until the cluster has listed them."""
LONG_SESSIONS = 6
"""The factor of timeouts for a cluster with a session of 9 s, as Apache Kafka has it by default."""
COMMANDS = """\
  # What may be done to a broker, by commands of yours; without one the scenarios that need it are skipped:
  # name: kafka-{{ id }}
  # commands: {kill: docker kill {{ name }}, start: docker start {{ name }}}      (docs/running-cluster.md)
"""


def init_elsewhere(options: InitOptions) -> int:
    """Ask the cluster for metadata and versions, and write the file. Return 0, or 1 if it does not fit.

    UsageError for a file that exists, for a mistake in `--security` and without the consent of its owner: nothing is
    sent then. InfrastructureError for another cluster, and for one that does not answer; nothing is written then.
    """
    if options.command is not None:
        raise UsageError("--command starts a broker, and --bootstrap leads to one that runs: leave out one of the two")
    give_consent(options.owned)
    name = options.name or NAME
    path = free_path(options, name)
    folder = str(path.parent.resolve())
    with tempfile.TemporaryDirectory(prefix="fencepost-init-") as scratch:
        draft = Path(scratch, "draft.yaml")
        draft.write_text(_file(name, options, {"brokers": {"ids": [SOME_ID]}, "folder": folder}))
        ids = sorted(_driver(draft).described().brokers)
        keys: dict[str, Any] = {"brokers": {"ids": ids}, "promises": _promises(len(ids))}
        draft.write_text(_file(name, options, {**keys, "folder": folder}))
        answers = ask(_driver(draft))
        keys["workloads"] = dict.fromkeys(served_workloads(answers.offered))
        draft.write_text(_file(name, options, {**keys, "folder": folder}))
        keys["missing_requests"] = sorted(needed_by(TargetFacts.of(str(draft))).keys() - answers.offered.keys())
    path.write_text(_file(name, options, keys))
    code = doctor_elsewhere(_driver(path), str(path), as_json=False)
    terminal().print(f"{path} is written: add commands for faults, and look at what it promises", highlight=False)
    return code


def _driver(path: Path) -> Elsewhere:
    target = load(str(path))
    assert isinstance(target, Elsewhere), "the file has `running`"
    return target


def _promises(brokers: int) -> Mapping[str, Any]:
    """Return what is promised of a cluster whose files are not seen: little if it has one broker."""
    alone = {"replication": "none", "failover": False, "fencing": False} if brokers == 1 else {}
    return {**alone, "survives": "kill"}


def _file(name: str, options: InitOptions, keys: Mapping[str, Any]) -> str:
    """Return the text of the file. What is written after `--security` is taken as it is."""
    lines = {
        "name": name,
        "title": f"the cluster {name}, which runs elsewhere",
        "version": '"1"',
        "dialect": "clients",
        **keys,
        "timeout_factor": LONG_SESSIONS,
    }
    bootstrap = [f'"{each.strip()}"' for each in (options.bootstrap or "").split(",")]
    running = {"bootstrap": bootstrap, "security": options.security}
    return f"{written(lines)}running:\n{written(running, '  ')}{COMMANDS}"
