"""A table as one HTML page, with a filter and an order."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Template

from fencepost.harness.comparison.legend import meanings, text
from fencepost.harness.comparison.masks import FIELDS
from fencepost.harness.comparison.table import Table
from fencepost.results.pages import page_environment, relative_link

KINDS = ("different", "listed", "same")


def write_page(table: Table, path: Path) -> None:
    """Write the page. OSError if that is not possible."""
    reports = [relative_link(Path(folder) / "report.html", path.parent) for folder in table.folders]
    masks = {mask.value: sorted(FIELDS[mask]) for mask in sorted(table.masks)}
    page = _template().render(
        table=table, kinds=KINDS, reports=reports, masks=masks, meanings=meanings(table), text=text
    )
    path.write_text(page, encoding="utf-8")


@cache
def _template() -> Template:
    return page_environment(__package__).get_template("page.html.j2")
