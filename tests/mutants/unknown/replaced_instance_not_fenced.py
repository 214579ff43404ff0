"""A coordinator that answers a replaced static member as an unknown one (against KIP-345: FENCED_INSTANCE_ID, 82).

The former process joins again in place of ending, so two processes of one instance id throw each other out for ever.
"""

from __future__ import annotations

from fencepost.cluster_impl.api.groups.group import Group
from fencepost.cluster_impl.wire.errors import Error
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("CRD-01",),
    scenarios=(),
    unit="tests/mutants/unknown/test_refusals.py::test_a_replaced_static_member_is_fenced",
    kind=Kind.REFUSALS,
)


def apply() -> None:
    def unfenced(self: Group, member_id: str, instance: str | None) -> Error:
        return Error.NONE

    Group._instance_error = unfenced  # type: ignore[method-assign]
