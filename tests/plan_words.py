"""Write what is made of the classes of words, `python -m tests.plan_words`: docs/plan-file.md and suites/words.py."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from fencepost.faults.parameters import PlanModel, key_of
from fencepost.faults.registry import FAULTS
from fencepost.harness.plan.conditions import CONDITIONS
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.requests import REQUESTS
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import STEPS
from fencepost.harness.plan.steps.step import PlanStep

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "plan-file.md"
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


def with_tables(page: str) -> str:
    """Return the page with the tables of the present steps, conditions and requests."""
    for head, of in TABLES.items():
        before, found, after = page.partition(head)
        if not found:
            raise ValueError(f"{PAGE.name} has no table any more that begins with {head}")
        page = before + head + "".join(rows(*of)) + "\n" + after.partition("\n\n")[2]
    return page


def imports() -> str:
    """Return the module that imports the class of each word."""
    parameters = {fault.Parameters for fault in FAULTS.values()}
    words = {*parameters, *CONDITIONS.values(), *REQUESTS.values(), *STEPS.values()}
    return HEAD + "".join(sorted(f"from {word.__module__} import {word.__name__}\n" for word in words))


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    IMPORTS.write_text(imports(), encoding="utf-8")
