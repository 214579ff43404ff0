"""What became of a probe, in the words of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kio.schema.errors import ErrorCode

from harness.clients.kip_343 import PRIVATE_ERRORS


class Outcome(StrEnum):
    SERVED = "served"
    REFUSED = "refused"
    """An error, or a connection that ended in place of an answer."""
    UNANSWERED = "unanswered"
    UNREADABLE = "unreadable"
    """Answered, but not with what was asked for: matches no expectation."""
    ABSENT = "absent"
    """No such process ran, so nobody was asked: judges nothing."""
    MISDIRECTED = "misdirected"
    """The node no longer had the role that the plan names; another is asked, and this judges nothing."""


@dataclass(frozen=True)
class Answer:
    """`error` is Kafka's number; `body` is an excerpt for the journal, JSON only."""

    outcome: Outcome
    error: int | None = None
    body: Mapping[str, object] = field(default_factory=dict)


def answered(error: ErrorCode | int, **body: object) -> Answer:
    """Served, unless there is an error: one of Kafka's, or a private one that only its number tells."""
    if error == ErrorCode.none:
        return Answer(Outcome.SERVED, None, body)
    return Answer(Outcome.REFUSED, int(error), {"error": _name(int(error)), **body})


def _name(error: int) -> str:
    if error in PRIVATE_ERRORS:
        return PRIVATE_ERRORS[error]
    return ErrorCode(error).name if error in set(ErrorCode) else str(error)
