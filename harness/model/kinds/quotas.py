"""Quotas of users, client ids and addresses.

Sources: the descriptions of AlterClientQuotas and DescribeClientQuotas; KIP-546, KIP-612 (addresses).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.harness.model.effect import Effect, Validation
from fencepost.harness.model.kind import Kind, Question, Scope, results
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

DEFAULT = "<default>"
"""Stands for an entity without a name: all that have no quota of their own."""


@dataclass(frozen=True)
class _Alteration(Effect):
    value: float | None
    """None: the quota is removed."""

    @property
    def title(self) -> str:
        return f"remove {self.object}" if self.value is None else f"set {self.object} to {self.value:g}"

    def after(self, state: State) -> State:
        return self.value


class ClientQuotas(Kind):
    """Each entity has the quotas that it was given and that were not removed since."""

    name = "client quotas"
    forwarded = True
    requirement = "MDL-08"
    changed_by = frozenset({"alter_client_quotas"})

    def questions(self, scope: Scope) -> Iterator[Question]:
        yield Question("describe_client_quotas", {"components": [], "strict": False})

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if answer["error_code"]:
            return None
        return {
            _object(entry["entity"], quota["key"]): quota["value"]
            for entry in answer["entries"] or ()
            for quota in entry["values"]
        }

    def state(self, seen: Any) -> State:
        return float(seen)

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        codes = {_entity(answer["entity"]): answer["error_code"] for answer in results(sent.response, "entries")}
        for entry in sent.body["entries"]:
            code = codes.get(_entity(entry["entity"]))
            for change in entry["ops"]:
                value = None if change["remove"] else float(change["value"])
                effect = _Alteration(_object(entry["entity"], change["key"]), code, value)
                yield Validation(effect.object, code, effect) if sent.body["validate_only"] else effect


def _entity(parts: Sequence[Mapping[str, Any]]) -> str:
    names = {part["entity_type"]: part["entity_name"] for part in parts}
    return " ".join(f"{type}={DEFAULT if name is None else name}" for type, name in sorted(names.items()))


def _object(parts: Sequence[Mapping[str, Any]], key: str) -> str:
    return f"{key} of {_entity(parts)}"
