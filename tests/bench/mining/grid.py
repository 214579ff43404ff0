"""How fluent the grid of tests and builds is: `python -m tests.bench.mining.grid`.

It opens overviews of 1,000 and of 10,000 cells in one headless Chromium, filters, sorts and scrolls them, and prints
medians in milliseconds and their ratios.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.table import Table

from fencepost.results.mining.pages.write import write_pages
from fencepost.results.store.store import Store
from tests.bench.report_page import OPENED
from tests.harness.report.chromium import Chromium
from tests.results.mining.facts_of import many

BUILDS: Final = 40
TESTS: Final = (25, 250)
TIMES: Final = 7
_TIMED: Final = "(() => {{ const begun = performance.now(); {}; {} return performance.now() - begun; }})()"
_LAID_OUT: Final = "document.querySelector('.grid').getBoundingClientRect();"
ACTIONS: Final = {
    "filter": "document.querySelector('.gridded .chip').click()",
    "sort": "document.querySelectorAll('.grid th button')[1].click()",
    "scroll": "document.querySelector('.gridbox').scrollTop += 400",
    "a cell in words": "document.querySelector('td[data-c]').dispatchEvent(new Event('pointerover', {bubbles: true}))",
}


def measure(browser: Chromium, page: Path) -> dict[str, float]:
    """Return the median of each action in milliseconds."""
    times: dict[str, list[float]] = {name: [] for name in ("open", *ACTIONS)}
    for _ in range(TIMES):
        browser.open(page, 1400)
        times["open"].append(browser.value(OPENED))
        for name, action in ACTIONS.items():
            times[name].append(browser.value(_TIMED.format(action, _LAID_OUT)))
    return {name: median(each) for name, each in times.items()}


def main() -> None:
    with TemporaryDirectory() as folder, Chromium() as browser:
        store = Store.create(f"{folder}/store")
        found = []
        for tests in TESTS:
            write_pages(many(tests, BUILDS), store, Path(folder) / f"{tests}")
            found.append(measure(browser, Path(folder) / f"{tests}" / "index.html"))
    shown = Table(title="The grid in headless Chromium, ms", title_justify="left")
    for heading in ("", *(f"{tests * BUILDS:,} cells" for tests in TESTS), "ratio"):
        shown.add_column(heading, justify="right")
    few, lots = found
    for name in few:
        shown.add_row(name, f"{few[name]:.1f}", f"{lots[name]:.1f}", f"{lots[name] / max(few[name], 0.1):.1f}")
    Console().print(shown)


if __name__ == "__main__":
    main()
