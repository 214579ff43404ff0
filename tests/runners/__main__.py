"""Run real test runners, import what they write, and hold it against what ran: `python -m tests.runners [NAME ...]`.

Each script of `scripts/` installs one runner and runs a small suite: tests of which one passes, one fails, one raises,
one fails at first, and one is skipped. Each test notes its executions in a file of its own, so what ran is
known without the report. The rows are compared with docs/results-dialects.md: exit code 1 shows those that differ.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.runners.page import PAGE, page, rows_of_page, without_versions
from tests.runners.row import row_of

SCRIPTS = Path(__file__).parent / "scripts"
PRELUDE = SCRIPTS.parent / "prelude.sh"
LONGEST = 1200
"""Seconds after which a runner is ended."""


def rows_of(script: Path, *, newest: bool, keep: Path | None = None) -> list[str]:
    """Return the rows of a runner. Raise RuntimeError if it could not be installed, or if it wrote no report."""
    with tempfile.TemporaryDirectory(prefix="fencepost-runner-") as made:
        folder = Path(made)
        log, versions = folder / "log", folder / "versions"
        log.touch()
        given = os.environ | {"LOG": str(log), "VERSIONS": str(versions), "NEWEST": str(int(newest))}
        command = ["sh", "-c", f'. "{PRELUDE}"; . "{script}"']
        ended = subprocess.run(command, cwd=folder, env=given, timeout=LONGEST, capture_output=True, text=True)
        try:
            if ended.returncode:
                raise RuntimeError(f"exit code {ended.returncode}")
            if keep:
                shutil.copytree(folder / "rows", keep / script.stem, dirs_exist_ok=True)
            ways = sorted((folder / "rows").iterdir(), key=lambda each: int(each.name))
            return [row_of(way, script.stem, versions.read_text().splitlines()) for way in ways]
        except RuntimeError as error:
            raise RuntimeError(f"{script.name}: {error}\n{log.read_text()[-3000:]}{ended.stderr}") from error


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.runners", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="scripts of tests/runners/scripts; all by default")
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--newest", action="store_true", help="take the newest releases, not the pinned ones")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="copy the reports into this folder")
    given = parser.parse_args()
    names = given.names or sorted(each.stem for each in SCRIPTS.glob("*.sh"))
    kept = rows_of_page(PAGE.read_text()) if PAGE.exists() else {}
    found: dict[str, list[str]] = {}
    for name in names:
        try:
            found[name] = rows_of(SCRIPTS / f"{name}.sh", newest=given.newest, keep=given.keep)
            print(*found[name], sep="\n", flush=True)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(error, file=sys.stderr, flush=True)
    if given.write:
        PAGE.write_text(page(kept | found))
        kept |= found
    before, after = (
        [without_versions(line) if given.newest else line for name in found for line in rows.get(name, ())]
        for rows in (kept, found)
    )
    changes = list(difflib.unified_diff(before, after, PAGE.name, "now", lineterm="", n=0))
    print(*changes, sep="\n")
    print(f"{len(found)} passed, {len(names) - len(found)} failed")
    return 1 if changes or len(found) < len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
