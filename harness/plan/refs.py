"""The references of a step: to nodes, by name or by role, and to values that earlier steps bound."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.faults.parameters import FaultParameters, PlanModel, key_of
from fencepost.harness.plan.conditions import Znode

NODE_FIELDS = (
    "node",
    "nodes",
    "to",
    "broker",
    "candidate",
    "controller",
    "asked",
    "is_",
    "is_not",
    "has",
    "lacks",
    "isr",
    "leader",
)
"""The fields that refer to nodes, of all steps but those that inject: faults declare theirs."""
VALUE_FIELDS = (
    "value",
    "broker_epoch",
    "leader_epoch",
    "version",
    "metadata_offset",
    "epoch",
    "controller_epoch",
    "incarnation",
)
"""The fields that may hold a bound value."""


def refs(step: PlanModel) -> Iterator[tuple[str, str]]:
    """Yield every node reference and bound value of a step: its key in the file, and the reference."""
    for key in (*step.one_node, *step.many_nodes) if isinstance(step, FaultParameters) else NODE_FIELDS:
        is_data = key == "has" and isinstance(step, Znode)
        value = None if is_data else getattr(step, key, None)
        for ref in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
            yield key_of(key), ref
    for key in VALUE_FIELDS:
        value = getattr(step, key, None)
        if isinstance(value, str) and value.startswith("$"):
            yield key, value
