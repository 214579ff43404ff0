"""The faults of a run in one line each: what was broken, where, and when it was proven and healed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fencepost.results.records.journal import read_journal

ENDS = {
    "proven": "proven",
    "unproven": "not proven",
    "healed": "healed",
    "unhealed": "not proven healed",
}


def faults_in_words(journal: Path) -> list[str]:
    """Return a line for each fault of the journal: `cut: cut from node-6 to node-1, proven at 2.42 s`.

    Return none if there is no journal.
    """
    if not journal.is_file():
        return []
    intents: dict[str, str] = {}
    ends: dict[str, list[str]] = {}
    for event in read_journal(journal).of("fault"):
        if event.phase == "intent":
            intents[event.id] = " ".join([event.data["fault"], *_parameters(event.data.get("params", {}))])
        elif event.phase in ENDS:
            ends.setdefault(event.id, []).append(f"{ENDS[event.phase]} at {event.t:.2f} s")
    return [f"{name}: {', '.join([what, *ends.get(name, [])])}" for name, what in intents.items()]


def _parameters(params: Mapping[str, Any]) -> Iterator[str]:
    for key, value in params.items():
        if value not in (None, "", [], {}):
            yield f"{key} {', '.join(map(str, value)) if isinstance(value, list) else value}"
