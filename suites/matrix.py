"""What is proven: every requirement of the catalogue against the runs of each target, and the tests that name it.

python -m suites.matrix runs
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from rich.console import Console
from rich.table import Table

from harness.plan.file import PlanError, load_plan
from results.records.folder import RunFolder
from results.records.verdict import RunVerdict, Verdict
from suites.requirements import Catalogue, load

TESTS = Path(__file__).parent.parent / "tests"


class Standing(Enum):
    """Of one requirement on one target; what stands further down outweighs what stands above it."""

    NEVER = "never exercised"
    PASSING = "passing"
    DIFFERS = "differs, as listed"
    FAILING = "failing"


_WEIGHTS = {standing: weight for weight, standing in enumerate(Standing)}


@dataclass(frozen=True)
class Proof:
    """One run that was judged: the requirements that its plan could prove, and what was found."""

    requirements: tuple[str, ...]
    verdict: RunVerdict

    def standings(self) -> Iterator[tuple[str, Standing]]:
        """A run that passed proves what its plan names; any run shows what was found in it."""
        if self.verdict.verdict is Verdict.PASS:
            yield from ((requirement, Standing.PASSING) for requirement in self.requirements)
        for finding in self.verdict.findings:
            if finding.requirement is None:
                continue
            if finding.verdict is Verdict.VIOLATION:
                yield finding.requirement, Standing.FAILING
            elif finding.verdict is Verdict.PASS:
                yield finding.requirement, Standing.DIFFERS if finding.difference else Standing.PASSING


Matrix = Mapping[str, Mapping[str, Standing]]
"""By target, by requirement; a requirement that is absent was never exercised."""


def matrix(proofs: Iterable[Proof]) -> Matrix:
    """The weightiest standing of each requirement on each target."""
    found: dict[str, dict[str, Standing]] = defaultdict(dict)
    for proof in proofs:
        target = found[proof.verdict.target]
        for requirement, standing in proof.standings():
            target[requirement] = max(target.get(requirement, Standing.NEVER), standing, key=_WEIGHTS.__getitem__)
    return found


def proofs(runs: Path) -> Iterator[Proof]:
    """The judged runs below a folder. A run that was cut short has no verdict and proves nothing."""
    for path in sorted(runs.glob("*/verdict.json")):
        folder = RunFolder(path.parent)
        try:
            yield Proof(load_plan(folder.plan).requirements, RunVerdict.load(path))
        except (OSError, ValueError, KeyError, PlanError) as error:
            print(f"left out {folder.path}: {error}", file=sys.stderr)


def named_by_tests(tests: Path = TESTS) -> Mapping[str, tuple[str, ...]]:
    """The tests that carry `pytest.mark.requirement("…")`, by requirement, as `path::name`; whole files as `path`."""
    named: dict[str, list[str]] = defaultdict(list)
    for path in sorted(tests.rglob("test_*.py")):
        where = path.relative_to(tests.parent)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


def table(catalogue: Catalogue, standings: Matrix, tests: Mapping[str, tuple[str, ...]]) -> Table:
    shown = Table("id", "level", "says", *standings, "unit tests", title="Requirements")
    for row in catalogue:
        cells = (standings[target].get(row.id, Standing.NEVER).value for target in standings)
        shown.add_row(row.id, row.level.value, row.says, *cells, str(len(tests.get(row.id, ())) or row.untested or ""))
    return shown


def main() -> None:
    runs = Path(sys.argv[1] if len(sys.argv) > 1 else "runs")
    Console().print(table(load(), matrix(proofs(runs)), named_by_tests()))


if __name__ == "__main__":
    main()
