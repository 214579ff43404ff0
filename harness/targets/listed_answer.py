"""Answers of a target to probes of `fencepost compare` that are known to differ from those of others."""

from __future__ import annotations

from fnmatch import fnmatchcase

from pydantic import Field

from fencepost.faults.parameters import PlanModel
from fencepost.harness.targets.releases import Releases, within


class ListedAnswer(PlanModel):
    """Answers that are as they are for one reason. Any other answer to the same probe is a difference as before."""

    probes: tuple[str, ...] = Field(min_length=1)
    """Their names: `create-topics.no-name`; `*` stands for any text."""
    answer: str = "*"
    """The cell of the table: `ok`, an error code, `closed`, `no answer`, `ended`, `there`, `absent`; `*`: any."""
    fields: tuple[str, ...] = ()
    """The only values that may differ where the cells are the same, by path: `topics[*].num_partitions`. None: all."""
    reason: str
    releases: Releases | None = None
    """The releases that answer so. None: all."""

    def covers(self, version: str, probe: str, answer: str, paths: tuple[str, ...]) -> bool:
        """Return whether it lists this answer of a version, whose values differ at these paths."""
        return (
            within(version, self.releases)
            and any(fnmatchcase(probe, pattern) for pattern in self.probes)
            and fnmatchcase(answer, self.answer)
            and (not self.fields or all(any(_matches(path, each) for each in self.fields) for path in paths))
        )


def _matches(path: str, pattern: str) -> bool:
    return fnmatchcase(path.replace("[", "<"), pattern.replace("[", "<"))
