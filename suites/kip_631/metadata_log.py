"""What the metadata log must hold, as an observer reads it."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v


def log_holds(
    name: str,
    where: dict[str, Any],
    answer: dict[str, Any],
    requirement: str,
    *also: str,
    binds: dict[str, str] | None = None,
    at_once: bool = False,
) -> v.Step:
    """Expect these values of the records in the log, within a while, or `at_once`."""
    return v.MetadataLogProbe(
        as_=f"log-{name}",
        node="active-controller",
        where=where,
        answer=answer,
        binds=binds or {},
        timeout_ms=5000,
        within_ms=0 if at_once else v.LIVENESS_TIMEOUT_MS,
        expect=v.answers(requirement, "served", *also),
    )
