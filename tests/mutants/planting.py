"""Plant the defect that the environment names; as a pytest plugin, before any test is collected."""

from __future__ import annotations

import importlib
import os

VARIABLE = "FENCEPOST_MUTANT"


def plant() -> str | None:
    """Apply the mutant that FENCEPOST_MUTANT names. Return its name, or None if the variable is not set."""
    name = os.environ.get(VARIABLE)
    if name:
        importlib.import_module(f"tests.mutants.{name}").apply()
    return name or None


def pytest_configure() -> None:
    plant()
