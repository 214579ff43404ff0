"""Write the tables of words in docs/plan-file.md from their classes: `python -m tests.plan_words`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from fencepost.faults.parameters import PlanModel, key_of
from fencepost.harness.plan.conditions import CONDITIONS
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.requests import REQUESTS
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps import STEPS
from fencepost.harness.plan.steps.step import PlanStep

PAGE = Path(__file__).parents[1] / "docs" / "plan-file.md"
TABLES: Mapping[str, tuple[Mapping[str, type[PlanModel]], type[PlanModel]]] = {
    "| `condition` | keys | it holds when |\n| --- | --- | --- |\n": (CONDITIONS, AwaitStep),
    "| `do` | keys | what it does |\n| --- | --- | --- |\n": (STEPS, PlanStep),
    "| `request` | keys | what is sent |\n| --- | --- | --- |\n": (REQUESTS, ProbeStep),
}


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


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
