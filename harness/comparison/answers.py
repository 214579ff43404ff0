"""The answers of one target to the probes of a plan, and what its nodes described in the end, from a run's journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from fencepost.harness.comparison.masks import masked
from fencepost.harness.plan.answers import ProbeOutcome
from fencepost.harness.plan.file import load_plan
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.results.records.events import Event
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import Journal, read_journal

PREPARES = "before."
"""Begins the names of probes that only prepare others, and are not compared."""
NOT_OFFERED, NOT_ASKED, ENDED = "not offered", "not asked", "ended"
_OF_CLUSTERS = frozenset(
    {"assignments", "feature epochs", "feature levels", "log directories", "registrations", "voters", "broker settings"}
)
"""Kinds of descriptions that say how a cluster is made, and not what requests led to. Assignments are in topics."""
_SHORT: Mapping[str, str] = {
    ProbeOutcome.SERVED: "ok",
    ProbeOutcome.DIFFERENT: "ok",
    ProbeOutcome.REFUSED: "closed",
    ProbeOutcome.UNANSWERED: "no answer",
    ProbeOutcome.UNREADABLE: "unreadable",
    ProbeOutcome.ABSENT: NOT_ASKED,
    ProbeOutcome.NOT_ASKED: NOT_OFFERED,
}
"""A cell by the outcome of a request without an error code."""


@dataclass(frozen=True)
class Answer:
    """One answer. `response` is masked, and None without one; `seconds` is the time to serve."""

    short: str
    """`ok`, an error code, or what came in place of an answer."""
    version: int | None = None
    response: Any = None
    seconds: float | None = None
    note: str = ""

    @property
    def is_answer(self) -> bool:
        """Return whether the target was asked at all."""
        return self.short not in (NOT_OFFERED, NOT_ASKED)


@dataclass(frozen=True)
class Answers:
    """All that one target answered in one run."""

    target: str
    folder: str
    by_probe: Mapping[str, Answer]
    state: Mapping[str, Any]
    """The descriptions of the nodes in the end, by kind and object, masked."""
    apis: Mapping[str, str]
    """The request of each probe."""

    def only(self, patterns: Sequence[str]) -> Answers:
        """Return the answers to probes with such names, without what all probes of the run led to in the end."""
        names = {name for name in self.by_probe if any(fnmatchcase(name, pattern) for pattern in patterns)}
        kept = {name: answer for name, answer in self.by_probe.items() if name in names}
        return replace(self, by_probe=kept, state={}, apis={name: self.apis[name] for name in kept})


def read_answers(folder: RunFolder) -> Answers:
    """Return what a run has of its target. Raises as `load_plan` and `read_journal` do."""
    return answers_of(load_plan(folder.plan), read_journal(folder.journal), str(folder.path))


def answers_of(plan: Plan, journal: Journal, folder: str = "") -> Answers:
    """Return the last answer to each probe of the plan that does not only prepare others."""
    brokers = [node.id for node in plan.topology.nodes if "broker" in node.roles and node.duplicate_of is None]
    names = [plan.step_name(place) for place in range(len(plan.steps))]
    apis = {
        name: getattr(step, "api", step.request)
        for name, step in zip(names, plan.steps, strict=True)
        if isinstance(step, ProbeStep) and not name.startswith(PREPARES)
    }
    found = _last_answers(journal, brokers)
    failed = {event.id: str(event.data["message"]) for event in journal.of("step", "end") if "message" in event.data}
    return Answers(
        plan.target,
        folder,
        {
            name: found.get(name, Answer(NOT_ASKED, note=failed.get(name, "the run did not come to it")))
            for name in apis
        },
        _state(journal, brokers),
        apis,
    )


def merged(parts: Sequence[Answers]) -> Answers:
    """Return the answers of one target in several runs, each probe with the number of its run: `2/step-03`."""
    if len(parts) == 1:
        return parts[0]
    numbered = list(enumerate(parts, 1))
    return Answers(
        parts[0].target,
        ", ".join(part.folder for part in parts),
        {f"{number}/{name}": answer for number, part in numbered for name, answer in part.by_probe.items()},
        {f"{number}/{kind}": objects for number, part in numbered for kind, objects in part.state.items()},
        {f"{number}/{name}": api for number, part in numbered for name, api in part.apis.items()},
    )


def _last_answers(journal: Journal, brokers: Iterable[int]) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    begun: dict[str, float] = {}
    asked = ""
    for event in journal.events:
        if event.type == "op" and event.data.get("f") == "probe":
            asked = str(event.data["step"])
            if event.phase == "invoke":
                begun[event.id] = event.t
            else:
                found[asked] = _answer(event, event.t - begun.get(event.id, event.t), list(brokers))
        elif event.type == "node" and event.phase == "exited" and asked in found:
            found[asked] = replace(found[asked], short=ENDED, note=f"{event.node} ended: {_how(event)}")
    return found


def _answer(event: Event, seconds: float, brokers: list[int]) -> Answer:
    body = event.data.get("body", {})
    error = event.data.get("error")
    return Answer(
        str(error) if error else _SHORT.get(str(event.data["outcome"]), str(event.data["outcome"])),
        body.get("version"),
        masked(body["response"], brokers) if "response" in body else None,
        seconds,
        str(body.get("reason", "")),
    )


def _how(event: Event) -> str:
    return ", ".join(f"{key} {value}" for key, value in event.data.items() if key in ("exit_code", "signal", "reason"))


def _state(journal: Journal, brokers: list[int]) -> dict[str, Any]:
    """Return what was described at the end: objects by kind. Those that several nodes describe are merged."""
    state: dict[str, Any] = {}
    for event in journal.of("op", "ok"):
        kind = str(event.data.get("kind"))
        if event.data.get("f") == "describe" and event.data.get("checkpoint") == "end" and kind not in _OF_CLUSTERS:
            described = state.setdefault(kind, {})
            for name, value in masked(event.data["objects"], brokers).items():
                known = described.get(name)
                described[name] = {**known, **value} if isinstance(known, dict) and isinstance(value, dict) else value
    if "groups" in state:  # brokers describe groups that do not exist, too
        listed = (name for name, value in state["groups"].items() if value.get("listed"))
        state["groups"] = {name: {"listed": True} for name in listed}
    return state
