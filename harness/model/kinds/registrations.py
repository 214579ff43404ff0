"""Registrations of brokers: what each broker's own settings say of it, as all brokers describe it.

No request changes these. A broker that is away may be missing.

Sources: the descriptions of BrokerRegistration, Metadata and DescribeCluster; KIP-36 (racks).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fencepost.harness.model.effect import Effect
from fencepost.harness.model.kind import Kind, Question, Scope
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State


class Registrations(Kind):
    """Each broker is described with the rack that it registered."""

    name = "registrations"
    requirement = "MDL-13"
    changed_by = frozenset[str]()

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield Question("metadata", {"topics": [], "allow_auto_topic_creation": False})

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {f"broker {broker['node_id']}": [broker.get("rack")] for broker in answer["brokers"]}

    def state(self, seen: Any) -> State:
        return tuple(seen)

    def fits(self, state: State, seen: State) -> Iterator[State]:
        """Take each registration that is first seen, and that a broker is away."""
        if seen is None or state is None or state == seen:
            yield state if seen is None else seen

    def says(self, state: State) -> str:
        return f"in the rack {state[0]}" if isinstance(state, tuple) and state[0] is not None else "without a rack"

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        return iter(())
