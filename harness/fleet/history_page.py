"""The page of the campaigns in a results store: one HTML file that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from fencepost.harness.fleet.history import History
from fencepost.results.pages import page_environment


def page(store: str, releases: Sequence[History]) -> str:
    """Return the page. A store without violations has no table of them."""
    return (
        page_environment(__package__)
        .get_template("history.html.j2")
        .render(
            store=store,
            releases=releases,
            found=[(of, each) for of in releases for each in of.found],
            nights=sum(each.nights for each in releases),
            plans=sum(each.plans for each in releases),
            hours=sum(each.hours for each in releases),
            written=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        )
    )
