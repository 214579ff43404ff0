"""Guards: the ordered checks of a request. The error of the first one that refuses is the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, ParamSpec

from fencepost.cluster_impl.wire.errors import Error

Subject = ParamSpec("Subject")


@dataclass(frozen=True)
class Guard(Generic[Subject]):
    """Refuses with `error` a request, or a part of it, for which `refuses` is true; `message` is for the sender."""

    error: Error
    refuses: Callable[Subject, bool]
    message: str = ""


def first_refusal(
    guards: Sequence[Guard[Subject]], *subject: Subject.args, **named: Subject.kwargs
) -> Guard[Subject] | None:
    """Return the first guard that refuses, None if none does."""
    return next((guard for guard in guards if guard.refuses(*subject, **named)), None)


def first_error(guards: Sequence[Guard[Subject]], *subject: Subject.args, **named: Subject.kwargs) -> Error:
    """Return the error of the first guard that refuses, NONE if none does."""
    guard = first_refusal(guards, *subject, **named)
    return Error.NONE if guard is None else guard.error
