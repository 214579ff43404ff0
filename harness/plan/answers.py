"""Outcomes of requests, in the terms of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

PRIVATE_ERRORS = {1343: "invalid_incarnation_id", 1589: "unknown_replica_event_type"}
"""Errors of KIP-343 and of ReplicaStateEvent, which kio does not know."""


class ProbeOutcome(StrEnum):
    """The outcome of one request."""

    SERVED = "served"
    REFUSED = "refused"
    """Answered with an error, or the node refused the login or the connection, or ended this in place of an answer."""
    DIFFERENT = "different"
    """Answered without an error, but a value of the response is not the one that the plan names."""
    UNANSWERED = "unanswered"
    UNREADABLE = "unreadable"
    """Answered, but with something else than a response: matches no expectation."""
    AWAITED = "awaited"
    """Not yet the expected outcome. The request is repeated until the probe's deadline; this one judges nothing."""
    ABSENT = "absent"
    """The node's process did not run, or a secured one was not reached, so no request was sent: judges nothing."""
    NOT_ASKED = "not-asked"
    """The release has no such request, or none in a version that asks this, so no request was sent: judges nothing."""
    MISDIRECTED = "misdirected"
    """The node no longer had the role that the plan names. The request is repeated; this one judges nothing."""


@dataclass(frozen=True)
class ProbeAnswer:
    """The answer to a probe. `error` is Kafka's error code; `body` is an excerpt for the journal, in JSON's types."""

    outcome: ProbeOutcome
    error: int | None = None
    body: Mapping[str, object] = field(default_factory=dict)


def answered(error: int, **body: object) -> ProbeAnswer:
    """Return `served` without an error, else `refused` with the error's name: Kafka's, or a design's private one."""
    if not error:
        return ProbeAnswer(ProbeOutcome.SERVED, None, body)
    return ProbeAnswer(ProbeOutcome.REFUSED, int(error), {"error": _name(int(error)), **body})


def compared(claims: Mapping[str, object], found: Mapping[str, object], code: int, **body: object) -> ProbeAnswer:
    """Return the outcome of `code`, or `different` with each value that is not the one that the plan claims."""
    wrong = {key: found[key] for key, claim in claims.items() if found[key] != claim}
    if not code and wrong:
        of_wrong = {key: claims[key] for key in wrong}
        return ProbeAnswer(ProbeOutcome.DIFFERENT, None, {"claimed": of_wrong, "answered": wrong, **body})
    return answered(code, **body)


def _name(error: int) -> str:
    if error in PRIVATE_ERRORS:
        return PRIVATE_ERRORS[error]
    from kio.schema.errors import ErrorCode  # only a run needs it, not the reader of a plan

    return ErrorCode(error).name if error in set(ErrorCode) else str(error)
