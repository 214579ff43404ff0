"""A failure of the machinery is journalled, once."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from fencepost.harness.engine.audit import Auditor
from fencepost.results.records.journal import read_journal
from tests.harness.engine.still_context import healthy, still_context

BYPASS = "node-4 is connected to 127.20.0.5:9090: that is none of its links"


def test_a_bypass_is_journalled_once_however_often_it_is_seen(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    looked = threading.Semaphore(0)
    cluster: Any = context.cluster

    def problems() -> list[str]:
        looked.release()
        return [BYPASS]

    cluster.problems = problems
    with Auditor(context.cluster, context.journal) as auditor:
        for _ in range(3):
            auditor.request()
            assert looked.acquire(timeout=30)
        auditor.audit()
    assert [event.data["message"] for event in read_journal(context.journal.path).of("note")] == [BYPASS]


def test_an_audit_that_fails_is_an_infrastructure_problem_itself(tmp_path: Path) -> None:
    context = still_context(tmp_path, healthy())
    looked = threading.Event()
    cluster: Any = context.cluster

    def problems() -> list[str]:
        looked.set()
        raise PermissionError("no access to the socket tables")

    cluster.problems = problems
    with Auditor(context.cluster, context.journal) as auditor:
        auditor.request()
        assert looked.wait(timeout=30)
    (note,) = read_journal(context.journal.path).of("note")
    assert "no access to the socket tables" in note.data["message"]
