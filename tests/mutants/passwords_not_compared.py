"""Listeners that let users of SCRAM log in with any password, also those that they do not know (against SEC-07)."""

from __future__ import annotations

import hmac
from types import SimpleNamespace

from fencepost.cluster_impl.wire import scram
from tests.mutants.defect import QUORUM, Defect

DEFECT = Defect(
    __name__,
    designs=(QUORUM,),
    rules=("SEC-07",),
    scenarios=("rights-outlast-the-leader",),
    unit="tests/cluster_impl/wire/test_scram.py::test_no_other_user_does",
)


def apply() -> None:
    vars(scram)["hmac"] = SimpleNamespace(digest=hmac.digest, compare_digest=lambda *_: True)
