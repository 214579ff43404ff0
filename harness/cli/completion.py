"""Completion of names in the shell: targets, scenarios, faults, backends and run folders.

It runs at each press of the tab key, so it imports only the table that it completes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def targets(incomplete: str) -> list[str]:
    """Return the names of targets, and the YAML files of the folder that `incomplete` names."""
    from fencepost.harness.targets.registry import names

    folder = Path(incomplete).parent if "/" in incomplete else Path()
    files = sorted(str(path) for path in folder.glob("*.yaml")) if incomplete else []
    begun = incomplete.removeprefix("./")
    return _beginning(incomplete, names()) + [file for file in files if file.startswith(begun)]


def scenarios(incomplete: str) -> list[str]:
    from fencepost.suites.scenarios import SCENARIOS

    return _beginning(incomplete, (scenario.slug for scenario in SCENARIOS))


def scenarios_and_plans(incomplete: str) -> list[str]:
    plans = Path().glob(f"{incomplete}*.yaml") if "/" not in incomplete else ()
    return scenarios(incomplete) + sorted(map(str, plans))


def runs_and_plans(incomplete: str) -> list[str]:
    return runs(incomplete) + sorted(map(str, Path().glob(f"{incomplete}*.yaml") if "/" not in incomplete else ()))


def active_faults(incomplete: str) -> list[str]:
    """Return the names of the faults of the cluster that is up."""
    return _beginning(incomplete, (fault["name"] for fault in _status()["faults"]))


def ended_nodes(incomplete: str) -> list[str]:
    """Return the nodes of the cluster that is up that have ended."""
    return _beginning(incomplete, (node["name"] for node in _status()["nodes"] if node["state"] == "exited"))


def faults(incomplete: str) -> list[str]:
    from fencepost.faults.registry import FAULTS

    return _beginning(incomplete, FAULTS)


def backends(incomplete: str) -> list[str]:
    from fencepost.harness.backends import BACKENDS

    return _beginning(incomplete, BACKENDS)


def runs(incomplete: str) -> list[str]:
    """Return the run folders below `runs`, or below the folder that `incomplete` names, newest first."""
    parent = Path(incomplete).parent if "/" in incomplete else Path("runs")
    found = [plan.parent for plan in [*parent.glob("*/plan.yaml"), *parent.glob("*/*/plan.yaml")]]
    newest = sorted(found, key=lambda run: run.stat().st_mtime, reverse=True)
    return [str(run) for run in newest if str(run).startswith(incomplete) or run.name.startswith(incomplete)]


def rules(incomplete: str) -> list[str]:
    """Return the ids of requirements, and the names of checks. Ids are read from the files: parsing takes a second."""
    from fencepost.harness.catalogue.installed import catalogue_files
    from fencepost.harness.checkers.registry import checks, run_checks

    texts = (path.read_text(encoding="utf-8") for path in catalogue_files())
    ids = (name for text in texts for name in re.findall(r"^\s*-\s*\{?\s*id:\s*([^\s,}]+)", text, re.MULTILINE))
    names = [*ids, *{check.name for check in checks()}, *run_checks()]
    return sorted(name for name in names if name.lower().startswith(incomplete.lower()))


def _status() -> Mapping[str, Any]:
    """Return the status of the one cluster that is up, or an empty one."""
    from fencepost.harness.cli.control import ask, find_run
    from fencepost.harness.errors import UsageError

    try:
        status: Mapping[str, Any] = ask(find_run(None), "status")
    except UsageError:
        return {"faults": [], "nodes": []}
    return status


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
