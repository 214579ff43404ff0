"""Reruns of a test: how many tell flaky from broken, and the command for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.results.mining.blame import CERTAIN, MOST_RERUNS, BuildOfBase, Failure
from fencepost.results.mining.facts import Row
from fencepost.results.mining.news import replay, short
from fencepost.results.store.dialects import dialects


@dataclass(frozen=True)
class Reruns:
    """The answer in words, and the command; None where no rerun is needed, or the command is not known."""

    words: str
    command: str | None


def reruns(store: str, row: Row, places: Sequence[Row]) -> Reruns | None:
    """Return what reruns would say of the newest failure of a test; None if its newest results are passes.

    `places` are its verdicts by build, the oldest first, or by day where builds are not known: the newest one is what a
    rerun runs again, and the others say how often it fails elsewhere.
    """
    judged = [each for each in places if each["pass"] + each["violation"]]
    if not judged:
        return None
    *earlier, newest = judged
    attempts, failed = _counts(newest)
    where = f"on {short(newest['build'])}" if newest.get("build") else "of late"
    if not failed:
        return None
    if failed < attempts:
        return Reruns(f"It passed and failed {where}: it is flaky there, and needs no rerun to tell.", None)
    if row["broken"] >= CERTAIN:
        return Reruns(f"It fails each time {where} ({row['broken']:.0%}), and needs no rerun to tell.", None)
    of_head = {"attempts": attempts, "failed_attempts": failed}
    number = Failure(of_head, tuple(BuildOfBase(*_counts(each)) for each in earlier)).reruns
    if number == 0:
        return Reruns(f"It fails each time {where}, and needs no rerun to tell.", None)
    if number is None:
        return Reruns(f"More than {MOST_RERUNS} reruns {where} would have to tell flaky from broken.", None)
    what = f"{number} reruns {where} tell" if number > 1 else f"One rerun {where} tells"
    words = f"{what} flaky from broken: if all fail it is broken ({CERTAIN:.0%}), if one passes it is flaky."
    return Reruns(words, rerun_command(store, row, number))


def rerun_command(store: str, row: Mapping[str, Any], times: int) -> str | None:
    """Return the command that runs the test of a row again so many times; None where it is not known.

    `failure` of the row has the newest failure: folder, plan_hash, and of an imported result runner and title.
    """
    if once := replay(store, row):
        return f"for i in $(seq {times}); do {once}; done" if times > 1 else once
    newest = row["failure"]
    runner = next((each for each in dialects() if newest and each.runner == newest["runner"]), None)
    if runner is None or not newest["title"]:
        return None
    before = row["test"].removesuffix(f"::{newest['title']}")
    return runner.rerun(before.rpartition("::")[2], newest["title"], times)


def _counts(place: Row) -> tuple[int, int]:
    """Return attempts and those that failed: a pass on retry has one at least."""
    return place["pass"] + place["violation"] + place["retried"], place["violation"] + place["retried"]
