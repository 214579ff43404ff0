"""`fencepost fleet status`: the nights of campaigns in a results store, by release."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from fencepost.harness.cli.commands.fleet import StatusOptions
from fencepost.harness.cli.publish import store_errors
from fencepost.harness.errors import UsageError
from fencepost.harness.fleet.history import History, read_history
from fencepost.harness.fleet.history_page import page
from fencepost.harness.terminal import console_beside, counted, terminal
from fencepost.results.records.verdict import Verdict
from fencepost.results.store.store import Store

FORMAT = "fencepost-fleet-status/1"
MARGIN = 15


def status(options: StatusOptions) -> int:
    """Print the history of each release; return 1 if a plan found a violation, 3 if there is no plan."""
    with store_errors():
        releases = read_history(Store.open(options.address), options.target)
    if options.as_json:
        of = [each.to_json() for each in releases]
        print(json.dumps({"format": FORMAT, "store": options.address, "releases": of}, indent=2))
    else:
        console = terminal()
        for line in (line for each in releases for line in _lines(each)):
            console.print(line, highlight=False, soft_wrap=True, markup=False)
        if not releases:
            of_target = f" on {options.target}" if options.target else ""
            console.print(f"no plan of a campaign{of_target} is in {options.address}: fencepost campaign --publish")
    if options.page is not None and releases:
        _write(options.page, page(options.address, releases))
        console_beside(options.as_json).print(
            f"\n{'page':<{MARGIN}}{options.page}", highlight=False, soft_wrap=True, markup=False
        )
    if not releases:
        return Verdict.INCONCLUSIVE.exit_code
    return Verdict.VIOLATION.exit_code if any(each.found for each in releases) else 0


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the page cannot be written to {file}: {error.strerror}") from None


def _lines(of: History) -> Iterator[str]:
    days = f"{of.first}" if of.first == of.last else f"{of.first} to {of.last}"
    verdicts = "   ".join(f"{number} {verdict}" for verdict, number in sorted(of.verdicts.items()))
    yield f"\n{of.target} {of.release}"
    yield f"{'nights':<{MARGIN}}{of.nights}, {days}"
    yield f"{'plans':<{MARGIN}}{of.plans} in {of.hours:.1f} h: {verdicts}"
    yield f"{'coverage':<{MARGIN}}{counted(of.combinations, 'combination')} of event, role, state and clients"
    for each in of.found:
        when = f"{each.first}" if each.first == each.last else f"{each.first} to {each.last}"
        yield f"{'found':<{MARGIN}}{counted(each.runs, 'run')}, {when}: {each.headline}"
