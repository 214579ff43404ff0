"""When something happened in a run: `cut.proven`, `burst.begun`. The names that plans use, looked up in the journal."""

from collections.abc import Mapping

from results.records.journal import Journal

_OF_STEPS = {"begin": "begun", "end": "ended"}
_OF_FAULTS = ("injected", "proven", "healed")


def read_instants(journal: Journal) -> Mapping[str, float]:
    """Seconds since the run began, for each instant that came. What came twice counts the first time."""
    instants: dict[str, float] = {}
    for event in journal.of("step"):
        instants.setdefault(f"{event.id}.{_OF_STEPS[event.phase]}", event.t)
    for event in journal.of("fault", *_OF_FAULTS):
        instants.setdefault(f"{event.id}.{event.phase}", event.t)
    return instants
