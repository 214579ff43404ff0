"""Finish a run whose harness died: clean up after it, record what was found, and judge what it left.

The watcher of the run (`harness/cleaning/watcher.py`) starts this module as a process: `python -m
fencepost.harness.engine.aftermath RUN`.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path

from fencepost.harness.cleaning.cleanup import clean, has_records, is_alive
from fencepost.harness.cleaning.watcher import CLEANED
from fencepost.harness.engine.living import SERVES
from fencepost.harness.errors import UsageError
from fencepost.harness.judge import judge_folder
from fencepost.harness.processes.waiting import within
from fencepost.harness.report import write_report
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.formats import RENAMED_KEYS

_INTERACTIVE = (
    "scenario: interactive",
    *(f"{key}: by-hand" for key in ("scenario", *(old for old, new in RENAMED_KEYS.items() if new == "scenario"))),
)
"""The line of the plan of an interactive cluster, which gets no verdict, in the present and in earlier formats."""
_GONE_WITHIN = 30.0
"""Seconds that a harness which is dying may take to release its locks."""


def main(run: Path) -> None:
    """Clean up after a harness that died, write into the run folder what was found, and judge the run."""
    within(_GONE_WITHIN, lambda: not is_alive(run))
    try:
        cleaned = clean(run)
    except UsageError as error:
        if has_records(run):
            _note(run, {"problems": [str(error)]})
        return
    _note(run, {"found": list(map(str, cleaned.found)), "problems": list(cleaned.problems)})
    serves = run / SERVES
    _judge(RunFolder(Path(serves.read_text(encoding="utf-8")) if serves.is_file() else run))


def _judge(folder: RunFolder) -> None:
    """Give a run without a verdict its verdict, `infrastructure`: it was cut short."""
    if folder.verdict.exists() or not folder.plan.is_file():
        return
    if any(line in _INTERACTIVE for line in folder.plan.read_text().splitlines()):
        return
    try:
        judge_folder(folder)
        write_report(folder)
    except Exception as error:
        _note(folder.path, {"problems": [f"no verdict could be given: {error!r}"]})


def _note(run: Path, fields: dict[str, object]) -> None:
    with suppress(OSError), (run / CLEANED).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"wall": round(time.time(), 3), **fields}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
