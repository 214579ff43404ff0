"""The metrics of a broker in a file: one JSON object, replaced as a whole."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

INTERVAL = 1.0
"""Seconds between two writes."""


class MetricsFile:
    """Writes what `metrics` returns to `path`."""

    def __init__(self, path: Path, metrics: Callable[[], Mapping[str, Any]]) -> None:
        self._path = path
        self._draft = path.with_name(f"{path.name}.tmp")
        self._metrics = metrics
        self._is_broken = False

    async def run(self) -> None:
        """Write the file at every INTERVAL; never returns. A failing disk is logged once and does not end the
        broker."""
        while True:
            self.write()
            await asyncio.sleep(INTERVAL)

    def write(self) -> None:
        """Replace the file now; log the first failure in a row."""
        try:
            self._draft.write_text(json.dumps(self._metrics(), sort_keys=True) + "\n", encoding="utf-8")
            self._draft.replace(self._path)
            self._is_broken = False
        except OSError as error:
            if not self._is_broken:
                log.error("the metrics file %s cannot be written: %s", self._path, error)
            self._is_broken = True
