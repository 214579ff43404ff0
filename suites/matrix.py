"""The proof matrix: each requirement of the catalogue, its proof on each target, and the tests that name it.

python -m fencepost.suites.matrix runs
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path

from rich import box
from rich.table import Table

from fencepost.harness.catalogue import Catalogue, catalogue
from fencepost.harness.terminal import terminal
from fencepost.results.records.requirements import RequirementState
from fencepost.results.records.verdict import RunVerdict

TESTS = Path(__file__).parents[2] / "tests"


class ProofState(Enum):
    """The state of one requirement on one target. A later member outweighs an earlier one."""

    NEVER = "never exercised"
    PASSING = "passing"
    DIFFERS = "differs, as listed"
    FAILING = "failing"


_WEIGHTS = {state: weight for weight, state in enumerate(ProofState)}


_SHOWN = {
    RequirementState.BROKEN: ProofState.FAILING,
    RequirementState.NOT_COVERED: ProofState.NEVER,
    RequirementState.AS_LISTED: ProofState.DIFFERS,
    RequirementState.HELD: ProofState.PASSING,
    RequirementState.NOT_EXERCISED: ProofState.NEVER,
}

Matrix = Mapping[str, Mapping[str, ProofState]]
"""States by target and requirement. A requirement that is absent was in no run."""


def matrix(verdicts: Iterable[RunVerdict]) -> Matrix:
    """Return the weightiest state of each requirement on each target. A plan that only names one does not prove it."""
    found: dict[str, dict[str, ProofState]] = defaultdict(dict)
    for verdict in verdicts:
        target = found[verdict.target]
        for result in verdict.requirements:
            state = target.get(result.id, ProofState.NEVER)
            target[result.id] = max(state, _SHOWN[result.state], key=_WEIGHTS.__getitem__)
    return found


def judged_runs(runs: Path) -> Iterator[RunVerdict]:
    """Yield the verdicts of the runs below a folder. A run that was cut short has none and proves nothing."""
    for path in sorted(runs.glob("*/verdict.json")):
        try:
            yield RunVerdict.load(path)
        except (OSError, ValueError) as error:
            print(f"left out {path.parent}: {error}", file=sys.stderr)


def named_by_tests(tests: Path = TESTS) -> Mapping[str, tuple[str, ...]]:
    """Return the tests that carry `pytest.mark.requirement("…")`, by requirement: `path::name`, or a file's `path`."""
    named: dict[str, list[str]] = defaultdict(list)
    for path in sorted(tests.rglob("test_*.py")):
        where = path.relative_to(tests.parent)
        text = path.read_text(encoding="utf-8")
        if "mark.requirement(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for requirement in _named(node.decorator_list):
                    named[requirement].append(f"{where}::{node.name}")
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
                marks = node.value.elts if isinstance(node.value, ast.List) else [node.value]
                for requirement in _named(marks):
                    named[requirement].append(str(where))
    return {requirement: tuple(where) for requirement, where in named.items()}


def _named(marks: Iterable[ast.expr]) -> Iterator[str]:
    for mark in marks:
        if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == "requirement":
            yield from (
                each.value for each in mark.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
            )


def table(rows: Catalogue, states: Matrix, tests: Mapping[str, tuple[str, ...]]) -> Table:
    shown = Table(title="Requirements", box=box.SIMPLE_HEAD)
    for name in ("id", "level"):
        shown.add_column(name, no_wrap=True)
    shown.add_column("says", min_width=40)
    for target in states:
        shown.add_column(target)
    shown.add_column("unit tests", min_width=20)
    for row in rows:
        cells = (states[target].get(row.id, ProofState.NEVER).value for target in states)
        shown.add_row(row.id, row.level.value, row.says, *cells, str(len(tests.get(row.id, ())) or row.untested or ""))
    return shown


def main() -> None:
    runs = Path(sys.argv[1] if len(sys.argv) > 1 else "runs")
    terminal().print(table(catalogue(), matrix(judged_runs(runs)), named_by_tests()))


if __name__ == "__main__":
    main()
