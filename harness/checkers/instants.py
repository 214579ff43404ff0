"""The instants of a run by the names that plans use (`cut.proven`, `burst.begun`), read from the journal."""

from collections.abc import Mapping

from fencepost.results.records.journal import Journal

_OF_STEPS = {"begin": "begun", "end": "ended"}
_OF_FAULTS = ("injected", "proven", "healed")


def read_instants(journal: Journal) -> Mapping[str, float]:
    """Return the time of each instant that came, in seconds since the run began; the first time if it came twice."""
    instants: dict[str, float] = {}
    for event in journal.of("step"):
        instants.setdefault(f"{event.id}.{_OF_STEPS[event.phase]}", event.t)
    for event in journal.of("fault", *_OF_FAULTS):
        instants.setdefault(f"{event.id}.{event.phase}", event.t)
    return instants
