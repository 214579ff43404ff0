"""The references of a step: to nodes, by name or by role, and to values that earlier steps bound."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.faults.parameters import PlanModel, Refers, key_of, references


def refs(step: PlanModel) -> Iterator[tuple[str, str]]:
    """Yield every node reference and bound value of a step: its key in the file, and the reference."""
    for field, marks in references(type(step)).items():
        value = getattr(step, field)
        if Refers.NODE in marks:
            for ref in (value,) if isinstance(value, str) else value or ():
                yield key_of(field), ref
        elif Refers.VALUE in marks and isinstance(value, str) and value.startswith("$"):
            yield key_of(field), value


def node_keys(model: type[PlanModel]) -> frozenset[str]:
    """Return the keys in the file whose values refer to nodes."""
    return frozenset(key_of(field) for field, marks in references(model).items() if Refers.NODE in marks)
