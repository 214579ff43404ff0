"""Figures of faults that survive the end of their measurement: hours of it can be gone on with."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.lasted import Lasted


@dataclass(frozen=True)
class Kept:
    """A file with one line for each fault that was measured to its end on a backend; without a file nothing is kept.

    A torn last line, of a measurement that was killed, counts as not measured.
    """

    file: Path | None = None

    def find(self, backend: str, fault: str) -> Lasted | None:
        if self.file is None or not self.file.exists():
            return None
        for line in self.file.read_text().splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if (row.pop("backend"), row.pop("fault")) == (backend, fault):
                return Lasted(**row)
        return None

    def keep(self, backend: str, fault: str, lasted: Lasted) -> None:
        if self.file is None or lasted.why_not is not None:
            return
        torn = self.file.exists() and not self.file.read_text().endswith("\n")
        with self.file.open("a") as file:
            file.write("\n" * torn + json.dumps({"backend": backend, "fault": fault, **asdict(lasted)}) + "\n")
