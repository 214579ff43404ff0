"""The program of the reference cluster's nodes: healthy, or with a planted defect (a mutant).

`FENCEPOST_MUTANT` names the defect, for every command of fencepost; `--mutant` of `run`, `conformance` and `campaign`
sets it. The defects are modules of `tests/mutants` and stand in the source tree only. Other targets have none.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from fencepost.harness.errors import UsageError
from fencepost.harness.processes.command import Command

PROGRAM = "fencepost.cluster_impl"
WITH_DEFECT = "tests.mutants.run"
"""The program that plants the defect and then runs `PROGRAM`."""
VARIABLE = "FENCEPOST_MUTANT"


def check_defect() -> None:
    """Raise UsageError if the environment names a defect that does not exist."""
    defect = os.environ.get(VARIABLE)
    if not defect:
        return
    if find_spec("tests") is None or find_spec("tests.mutants") is None:
        raise UsageError(f"{VARIABLE} names {defect}, but only fencepost's source tree has planted defects: unset it")
    if find_spec(f"tests.mutants.{defect}") is None:
        raise UsageError(f"{VARIABLE} names {defect}, and there is no tests/mutants/{defect}.py")


def plant(defect: str | None) -> None:
    """Plant a defect into all nodes that this process and its children start; None leaves it as it is."""
    if defect is not None:
        os.environ[VARIABLE] = defect


def refuse_defect(target: str) -> None:
    """Raise UsageError if the environment names a defect, for a target that has none."""
    if defect := os.environ.get(VARIABLE):
        raise UsageError(
            f"{target} has no planted defects, and {VARIABLE} or --mutant names {defect}: only the reference cluster "
            "has them (quorum, zk-controller, leader-driven)"
        )


def command(properties: Path) -> Command:
    """Return the command of a node with this configuration file."""
    defect = os.environ.get(VARIABLE)
    if not defect:
        return Command([sys.executable, "-m", PROGRAM, str(properties)])
    return Command([sys.executable, "-m", WITH_DEFECT, str(properties)], {VARIABLE: defect})


def planted_defect(node: Command) -> str:
    """Return the name of the defect that a node is started with; empty for a healthy one."""
    return node.environment.get(VARIABLE, "")


def plant_again(defect: str) -> str:
    """Plant the defect of an earlier run, unless the environment names one, or none by an empty value.

    Return the name of the defect that nodes will have.
    """
    if defect:
        os.environ.setdefault(VARIABLE, defect)
    return os.environ.get(VARIABLE, "")


def with_defect(command: str) -> str:
    """Return a command for a shell that plants the present defect; a plan file does not name it."""
    defect = os.environ.get(VARIABLE)
    return f"{VARIABLE}={defect} {command}" if defect else command
