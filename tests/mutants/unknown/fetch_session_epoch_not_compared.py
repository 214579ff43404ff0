"""A broker that takes any epoch of a known fetch session for the one that is due (against KIP-227, error 71)."""

from __future__ import annotations

from fencepost.cluster_impl.api.fetch_sessions import FetchSessions
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.server import Request
from tests.mutants.defect import ALL, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=ALL,
    rules=("ADM-02",),
    scenarios=(),
    unit="tests/mutants/unknown/test_refusals.py::test_a_fetch_session_goes_on_at_its_next_epoch_only",
    kind=Kind.REFUSALS,
)


def apply() -> None:
    honest = FetchSessions._find

    def any_epoch(self: FetchSessions, body: m.FetchRequest, request: Request):  # type: ignore[no-untyped-def]
        if (session := self._sessions.get(body.session_id)) is not None:
            body.session_epoch = session.epoch
        return honest(self, body, request)

    FetchSessions._find = any_epoch  # type: ignore[method-assign]
