"""The actions of a run on its nodes and links, with their times, for a script that repeats them without the harness.

It comes from the journal, so roles are the nodes that had them in that run, and times are those of that run. Faults
that only the harness can inject (a disk that fails, a clock that jumps, another node's directory) are named and left
out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.faults.capabilities import Harm, Stream, Toxic
from fencepost.faults.fault import BundleScript
from fencepost.faults.registry import FAULTS
from fencepost.harness.network.toxiproxy import described
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal

_OF_NODES = {"killed": "kill", "paused": "pause", "resumed": "unpause", "stopping": "stop", "started": "start"}
_TOXIC = re.compile(r"([a-z]+)(?: (\d+))? of (requests|replies)")


@dataclass(frozen=True)
class Action:
    """One line of the script. `at` counts seconds from the first step of the plan."""

    at: float
    verb: str
    words: tuple[str, ...]

    @property
    def line(self) -> str:
        return " ".join([f"at {self.at:.2f};", self.verb, *(f"'{word}'" for word in self.words)])


@dataclass(frozen=True)
class Schedule:
    actions: tuple[Action, ...]
    missing: tuple[str, ...]
    """Messages about the faults that the script leaves out."""

    @property
    def seconds(self) -> float:
        return max((action.at for action in self.actions), default=0.0)


def schedule(journal: Journal, links: Mapping[tuple[str, str], tuple[str, ...]]) -> Schedule:
    """Return the schedule of a run. `links` has the names of the proxies that a link consists of."""
    begin = next((event.t for event in journal.of("step", "begin")), 0.0)
    missing = _upgraded(journal)
    actions = [
        Action(event.t - begin, _OF_NODES[event.phase], (str(event.node or event.id),))
        for event in journal.of("node", *_OF_NODES)
        if event.t >= begin
    ]
    for name, events in _by_fault(journal).items():
        actions += _of_links(events, links, begin)
        if reason := _left_out(name, events, links):
            missing.append(reason)
    return Schedule(tuple(sorted(actions, key=lambda action: action.at)), tuple(missing))


def _of_links(
    events: Mapping[str, Event], links: Mapping[tuple[str, str], tuple[str, ...]], begin: float
) -> Iterator[Action]:
    for effect in _effects(events):
        for proxy in links.get((effect["from"], effect["to"]), ()):
            if "injected" in events:
                at = events["injected"].t - begin
                if effect["effect"] == "cut":
                    yield Action(at, "cut", (effect["from"], proxy))
                for toxic in _toxics(effect["effect"]):
                    for part in described(toxic):
                        yield Action(at, "harm", (effect["from"], proxy, json.dumps(part)))
            if "recovering" in events:
                yield Action(events["recovering"].t - begin, "restore", (effect["from"], proxy))


def _toxics(effect: str) -> list[Toxic]:
    """Parse toxics from their `str`."""
    return [Toxic(Harm(harm), Stream(stream), int(amount or 0)) for harm, amount, stream in _TOXIC.findall(effect)]


def _left_out(name: str, events: Mapping[str, Event], links: Mapping[tuple[str, str], tuple[str, ...]]) -> str | None:
    kind = events["intent"].data.get("fault", name) if "intent" in events else name
    effects = _effects(events)
    script = FAULTS[kind].bundle_script if kind in FAULTS else BundleScript.NOTHING
    if script is BundleScript.LINK_EFFECTS_ONCE:
        return f"{name} ({kind}): the script breaks these links once, for as long as they came and went in the run."
    if effects:
        unknown = [effect for effect in effects if effect["effect"] != "cut" and not _toxics(effect["effect"])]
        unknown += [effect for effect in effects if (effect["from"], effect["to"]) not in links]
        return f"{name} ({kind}): not all of what it did to links is known to the script." if unknown else None
    if script is BundleScript.PROCESS_EVENTS:
        return None
    return f"{name} ({kind}): only fencepost can inject it; the script repeats only starts and ends of nodes."


def _upgraded(journal: Journal) -> list[str]:
    """Return a message if there are nodes that were started with more than one release."""
    releases: dict[str, set[str]] = {}
    for event in journal.of("node", "started"):
        releases.setdefault(str(event.node or event.id), set()).add(str(event.data.get("release")))
    nodes = ", ".join(sorted(node for node, started in releases.items() if len(started) > 1))
    return [f"{nodes}: another release was started there; the script starts the old one again."] if nodes else []


def _effects(events: Mapping[str, Event]) -> list[dict[str, Any]]:
    return list(events["intent"].data.get("links", ())) if "intent" in events else []


def _by_fault(journal: Journal) -> dict[str, dict[str, Event]]:
    faults: dict[str, dict[str, Event]] = {}
    for event in journal.of("fault"):
        faults.setdefault(event.id, {}).setdefault(event.phase, event)
    return faults
