"""Claims about the metadata log, as an observer reads it."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v

RULES = {
    "leader-epoch-grows": "K631-65",
    "left-every-isr": "K631-67",
    "entity-known": "K631-68",
    "epoch-after-registration": "D631-25",
    "deletion-marked": "D631-41",
}
"""The requirement of each rule that every log of this design keeps."""


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
        expect=v.serves(requirement, *also),
    )


def rules_hold(name: str, *rules: str) -> list[v.Step]:
    """Expect that no record so far breaks these rules; without rules, any of `RULES`."""
    return [log_holds(f"{name}-{rule}", {}, {f"broken[rule={rule}]": None}, RULES[rule]) for rule in rules or RULES]
