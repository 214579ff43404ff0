"""Write what is made of registries, `python -m tests.plan_words`.

These are the tables of docs/plan-file.md, the table of the rules of every run in docs/spark.md, and suites/words.py.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fencepost.faults.parameters import PlanModel, key_of
from fencepost.faults.registry import FAULTS
from fencepost.harness.checkers.owed import broken_by_loss, every_run
from fencepost.harness.checkers.registry import checkers
from fencepost.harness.plan.conditions import CONDITIONS
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.requests import REQUESTS
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import STEPS
from fencepost.harness.plan.steps.step import PlanStep
from fencepost.results.mining.data_checks import CHECKS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "plan-file.md"
RULES_PAGE = ROOT / "docs" / "spark.md"
RULES = "| rule | its checkers read | only with | broken by a lost record | jobs |\n| --- | --- | --- | --- | --- |\n"
IMPORTS = ROOT / "suites" / "words.py"
TABLES: Mapping[str, tuple[Mapping[str, type[PlanModel]], type[PlanModel]]] = {
    "| `condition` | keys | it holds when |\n| --- | --- | --- |\n": (CONDITIONS, AwaitStep),
    "| `do` | keys | what it does |\n| --- | --- | --- |\n": (STEPS, PlanStep),
    "| `request` | keys | what is sent |\n| --- | --- | --- |\n": (REQUESTS, ProbeStep),
}
HEAD = '''"""All words of plans: the parameters of faults, conditions, requests and steps.

Made from the registries by `python -m tests.plan_words`, so that types are known without running anything.
"""

from __future__ import annotations

'''


def rows(words: Mapping[str, type[PlanModel]], base: type[PlanModel]) -> Iterator[str]:
    """Yield the row of each word: its name, its own keys, and its docstring in one line."""
    for name, word in sorted(words.items()):
        own = [key for key in word.model_fields if key not in {*base.model_fields, "condition", "request", "do", "as_"}]
        keys = ", ".join(f"`{key_of(key)}`" for key in own)
        text = re.sub(r"\s+", " ", inspect.getdoc(word) or "").replace("|", "\\|")
        yield f"| `{name}` | {keys} | {text} |\n"


def rules_of_every_run() -> Iterator[str]:
    """Yield the row of each guarantee that every run is judged by, in the order in which plans list them."""
    for rule in every_run():
        judges = [checker for checker in checkers() if checker.every_run and rule in checker.requirements]
        reads = dict.fromkeys(f"`{part}`" for checker in judges for part in checker.reads)
        needs = sorted({need.value for checker in judges for need in checker.needs})
        loss = "yes" if rule in ("ACK-01", *broken_by_loss()) else ""
        jobs = [f"`{name}`" for name, (judged, _) in CHECKS.items() if judged == rule]
        yield f"| {rule} | {', '.join(reads)} | {', or '.join(needs)} | {loss} | {', '.join(jobs)} |\n"


def with_tables(page: str) -> str:
    """Return the page of plans with the tables of the present steps, conditions and requests."""
    for head, words in TABLES.items():
        page = _with_table(page, head, rows(*words))
    return page


def with_rules(page: str) -> str:
    """Return the page of jobs with the table of the present rules of every run."""
    return _with_table(page, RULES, rules_of_every_run())


def _with_table(page: str, head: str, lines: Iterable[str]) -> str:
    before, present, after = page.partition(head)
    if not present:
        raise ValueError(f"the page has no table any more that begins with {head}")
    return before + head + "".join(lines) + "\n" + after.partition("\n\n")[2]


def imports() -> str:
    """Return the module that imports the class of each word."""
    parameters = {fault.Parameters for fault in FAULTS.values()}
    words = {*parameters, *CONDITIONS.values(), *REQUESTS.values(), *STEPS.values()}
    return HEAD + "".join(sorted(f"from {word.__module__} import {word.__name__}\n" for word in words))


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    RULES_PAGE.write_text(with_rules(RULES_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    IMPORTS.write_text(imports(), encoding="utf-8")
