"""Write the table of conditions in docs/plan-file.md from their classes: `python -m tests.plan_words`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from fencepost.faults.parameters import key_of
from fencepost.harness.plan.conditions import CONDITIONS
from fencepost.harness.plan.conditions.condition import AwaitStep

PAGE = Path(__file__).parents[1] / "docs" / "plan-file.md"
BEGIN, END = "| `condition` | keys | it holds when |\n| --- | --- | --- |\n", "\n"


def rows() -> Iterator[str]:
    """Yield the row of each condition: its name, its own keys, and its docstring in one line."""
    for name, condition in sorted(CONDITIONS.items()):
        own = [key for key in condition.model_fields if key not in {*AwaitStep.model_fields, "condition"}]
        keys = ", ".join(f"`{key_of(key)}`" for key in own)
        words = re.sub(r"\s+", " ", inspect.getdoc(condition) or "").replace("|", "\\|")
        yield f"| `{name}` | {keys} | {words} |\n"


def with_tables(page: str) -> str:
    """Return the page with the table of the present conditions."""
    before, found, after = page.partition(BEGIN)
    if not found:
        raise ValueError(f"{PAGE.name} has no table of conditions any more")
    return before + BEGIN + "".join(rows()) + END + after.partition("\n\n")[2]


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
