"""The generated parts of docs/results.md: `python -m fencepost.results.store.dictionary` prints runners and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from fencepost.results.store.allure import LOST as ADAPTERS
from fencepost.results.store.dialects import UNKNOWN, dialects
from fencepost.results.store.tables import RUN, TABLES, Table, description

_TYPES: Final = {
    pa.string(): "text",
    pa.int64(): "integer",
    pa.float64(): "number",
    pa.bool_(): "flag",
    pa.date32(): "date",
    pa.timestamp("us", "UTC"): "time",
    pa.list_(pa.string()): "list of texts",
    pa.map_(pa.string(), pa.string()): "map of texts",
}


def dictionary() -> str:
    """Return the tables and columns of the store in Markdown."""
    return "\n".join([*_common(), *(line for table in TABLES for line in _section(table))])


def runners() -> str:
    """Return the runners whose files are recognized in Markdown: what cannot be known from them, and what helps."""
    lines = ["| runner | what cannot be known | what helps |", "| --- | --- | --- |"]
    known = sorted(dialects(), key=lambda each: each.runner.lower())
    rows = [(each.runner, each.lost, each.switch) for each in (*known, UNKNOWN)]
    rows += [(adapter, (lost,), "") for adapter, lost in ADAPTERS.items()]
    return "\n".join([*lines, *(f"| {name} | {'; '.join(lost)} | {switch} |" for name, lost, switch in rows)])


def _common() -> Iterator[str]:
    yield "### Columns of all tables of runs"
    yield ""
    yield from _columns(RUN)


def _section(table: Table) -> Iterator[str]:
    yield f"### {table.name}"
    yield ""
    yield f"Version {table.version}. Key: {', '.join(f'`{name}`' for name in table.key)}. {table.about}"
    yield ""
    common = {field.name for field in RUN} if tuple(table.schema)[: len(RUN)] == RUN else set()
    if common:
        yield "After the columns of all tables of runs:"
        yield ""
    yield from _columns(field for field in table.schema if field.name not in common)


def _columns(fields: Iterable[pa.Field]) -> Iterator[str]:
    yield "| column | type | null | content |"
    yield "| --- | --- | --- | --- |"
    for field in fields:
        yield f"| `{field.name}` | {_TYPES[field.type]} | {'yes' if field.nullable else 'no'} | {description(field)} |"
    yield ""


if __name__ == "__main__":
    print(runners(), dictionary(), sep="\n\n## Tables\n\n", end="")
