"""Run the gallery of released bugs, and write its page.

python -m fencepost.suites.released_bugs
python -m fencepost.suites.released_bugs KAFKA-14616 groups --again
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from fencepost.harness.cli.run_display import Series
from fencepost.harness.engine.run import RunInterrupt
from fencepost.harness.errors import HarnessError
from fencepost.harness.terminal import terminal
from fencepost.results.records.verdict import WRONG_USAGE, Verdict
from fencepost.suites.released_bugs.bug import ReleasedBug
from fencepost.suites.released_bugs.bugs import BUGS
from fencepost.suites.released_bugs.gallery import Gallery, sides
from fencepost.suites.released_bugs.page import write_page

PAGE = Path("docs/gallery.md")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the pairs that were chosen. Return 0 if each shows its bug, 1 if one does not, 2 after an interrupt."""
    parser = argparse.ArgumentParser(prog="make gallery ARGS=…", description=__doc__.partition("\n")[0])
    parser.add_argument("chosen", nargs="*", metavar="NUMBER|KIND", help="KAFKA-14616, or a kind such as groups")
    parser.add_argument("--again", action="store_true", help="also what was run before")
    parser.add_argument("--list", action="store_true", help="only list the bugs")
    parser.add_argument("--runs", type=Path, default=Path("runs/gallery"), help="folder of the runs")
    parser.add_argument(
        "--page",
        type=Path,
        help=f"the page to write; bugs that were not run stay on it. Default: {PAGE}, if nothing is chosen",
    )
    options = parser.parse_args(arguments)
    try:
        bugs = choose(options.chosen)
    except ValueError as error:
        print(error, file=sys.stderr)
        return WRONG_USAGE
    if options.list:
        for bug in bugs:
            print(f"{bug.number:<12} {bug.kind:<15} {bug.affected:<24} {bug.fixed:<24} {bug.title}")
        return 0
    options.runs.mkdir(parents=True, exist_ok=True)
    gallery, console = Gallery(options.runs), terminal()
    try:
        with Series(console, sum(len(sides(bug)) for bug in bugs)) as series:
            gallery.run(bugs, series, again=options.again)
    except RunInterrupt:
        console.print("interrupted: the same command goes on with what is left")
        return Verdict.INFRASTRUCTURE.exit_code
    except HarnessError as error:
        console.print(str(error), markup=False)
        return Verdict.INFRASTRUCTURE.exit_code
    missing = [bug.number for bug in bugs if not gallery.shown(bug)]
    console.print(f"{len(bugs) - len(missing)} of {len(bugs)} bugs show on the affected release only")
    if missing:
        console.print(f"not shown: {', '.join(missing)}")
    if page := options.page or (None if options.chosen else PAGE):
        console.print(f"page: {write_page(BUGS, gallery, page)}")
    return 1 if missing else 0


def choose(names: Sequence[str]) -> tuple[ReleasedBug, ...]:
    """Return the bugs of these numbers and kinds, all without names. Raise ValueError for an unknown one."""
    known = {bug.number.lower(): (bug,) for bug in BUGS}
    for bug in BUGS:
        known[bug.kind.lower()] = (*known.get(bug.kind.lower(), ()), bug)
    found: list[ReleasedBug] = []
    for name in names:
        key = f"kafka-{name}" if name.isdigit() else name.lower()
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            raise ValueError(f"there is no bug or kind {name!r}: " + (f"did you mean {near[0]}?" if near else "--list"))
        found += known[key]
    return tuple(dict.fromkeys(found)) if names else BUGS


if __name__ == "__main__":
    sys.exit(main())
