"""The differences that target files list, each with its reason."""

from __future__ import annotations

from functools import cache

from fencepost.harness.targets.registry import load_file


class ListedAnswers:
    """Looks up what the file of a target lists for the version that was asked. Implements `table.Listed`."""

    def reason(self, target: str, probe: str, answer: str, paths: tuple[str, ...]) -> str | None:
        file = _file(target)
        more = _file(file.answers_as).answers if file.answers_as is not None else ()
        listed = (each for each in (*file.answers, *more) if each.covers(file.release, probe, answer, paths))
        return next((each.reason for each in listed), None)


_file = cache(load_file)
