"""Each defect breaks what its test states, and is of a kind; no kind is left out."""

from __future__ import annotations

import inspect
import os
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from fencepost.harness.catalogue import catalogue
from tests.mutants.catalogue import UNKNOWN
from tests.mutants.defect import Kind

HOLDS, BROKEN, FAILED = range(3)


def _outcome(name: str, folder: Path) -> int:
    """Plant a defect and run the test that it is to break, in this process."""
    test_file, _, test = UNKNOWN[name].unit.partition("::")
    guarantee = getattr(import_module(test_file.removesuffix(".py").replace("/", ".")), test)
    import_module(UNKNOWN[name].module).apply()
    try:
        guarantee(**({"tmp_path": folder} if inspect.signature(guarantee).parameters else {}))
    except AssertionError:
        return BROKEN
    return HOLDS


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_defect_breaks_what_its_test_states(name: str, tmp_path: Path) -> None:
    """In a process of its own, since the patches stay; beside it the same test passes without the defect."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(_outcome(name, tmp_path))
        except BaseException:
            traceback.print_exc()
        os._exit(FAILED)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == BROKEN


def test_a_defect_names_its_kind_its_designs_and_rules_that_exist() -> None:
    rules = {rule.id for rule in catalogue()}
    for defect in UNKNOWN.values():
        assert defect.kind is not None and defect.designs and not defect.scenarios, defect.name
        assert set(defect.rules) <= rules, defect.name


def test_each_kind_has_five_defects_at_least() -> None:
    kinds = Counter(defect.kind for defect in UNKNOWN.values())
    assert all(kinds[kind] >= 5 for kind in Kind), kinds
