"""Imports point one way: suites -> harness -> faults -> results.records. cluster_impl stands alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# What a part may import of this project, its own modules included.
MAY_IMPORT = {
    "cluster_impl": {"cluster_impl"},
    "results.records": {"results.records"},
    "results.mining": {"results.mining", "results.records"},
    "faults": {"faults", "results.records"},
    "harness": {"harness", "faults", "results.records", "results.mining"},
    "suites": {"suites", "harness", "faults", "results.records"},
}
# The command line and the pytest plugin start suites by name; they are the only way up.
MAY_LOOK_UP = {"harness/cli", "harness/pytest_plugin.py"}
PARTS = ("cluster_impl", "results", "faults", "harness", "suites", "tests")


def imported(source: str) -> set[str]:
    """The dotted names of the project that a module imports, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.split(".")[0] in PARTS}


def forbidden(part: str, source: str) -> list[str]:
    """The imports of `source`, a module of `part`, that point the wrong way."""
    allowed = MAY_IMPORT[part]
    return sorted(name for name in imported(source) if not any(name == a or name.startswith(a + ".") for a in allowed))


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_imports_point_one_way(part: str) -> None:
    modules = sorted((ROOT / part.replace(".", "/")).rglob("*.py"))
    wrong = {path.relative_to(ROOT).as_posix(): forbidden(part, path.read_text()) for path in modules}
    for place in MAY_LOOK_UP:
        wrong |= {
            where: [name for name in names if not name.startswith("suites")]
            for where, names in wrong.items()
            if where.startswith(place)
        }
    assert {where: names for where, names in wrong.items() if names} == {}


def test_an_import_that_points_the_wrong_way_is_seen_wherever_it_hides() -> None:
    source = "import harness.plan\n\ndef f() -> None:\n    from suites.kip_631 import stories\n"
    assert forbidden("faults", source) == ["harness.plan", "suites.kip_631.stories"]


def test_the_parts_of_the_house_are_all_held() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages <= {part.split(".")[0] for part in MAY_IMPORT} | {"tests"}


def test_the_suites_are_read_on_a_machine_without_libfuse() -> None:
    without = "import sys; sys.modules['mfusepy'] = None; import harness.cli.main, harness.run, suites"
    subprocess.run([sys.executable, "-c", without], cwd=ROOT, check=True, capture_output=True)
