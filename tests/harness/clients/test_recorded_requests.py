from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kio.schema.create_topics.v5.request import CreateTopicsRequest

from fencepost.harness.clients.recorded_requests import RequestRecorder, api_of
from fencepost.harness.model.kinds import CHANGING
from fencepost.harness.plan import messages
from fencepost.harness.wire.entities import own_module
from fencepost.harness.wire.no_answer import Closed
from fencepost.results.records.journal import JournalWriter, read_journal

CREATION = messages.build(CreateTopicsRequest, {"topics": [], "timeout": 1000, "validate_only": False}, str)


def test_a_changing_request_and_its_answer_stand_in_the_journal(tmp_path: Path) -> None:
    _, response = messages.payload_types("create_topics", 5)
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        recorder = RequestRecorder(journal)
        answer = messages.build(response, {"throttle_time": 0, "topics": []}, str)
        assert recorder.record("node-4", CREATION, lambda: answer) is answer
        with pytest.raises(Closed):
            recorder.record("node-4", CREATION, _no_answer)
    events = read_journal(tmp_path / "journal.jsonl").events
    assert [(event.phase, event.data["api"]) for event in events] == [
        ("invoke", "create_topics"),
        ("ok", "create_topics"),
        ("invoke", "create_topics"),
        ("info", "create_topics"),
    ]
    assert [sent.response is None for sent in recorder.sent.values()] == [False, True]


def test_every_changing_request_is_known_by_the_name_of_its_class() -> None:
    for api in CHANGING:
        for version in messages.versions(api):
            request, _ = messages.payload_types(api, version)
            assert _recorded(request) == api


def test_a_draft_with_the_key_of_another_request_is_not_taken_for_that() -> None:
    """BrokerHeartbeat of the draft has the key of DescribeUserScramCredentials."""
    module: Any = own_module(50, 0)
    assert _recorded(module.BrokerHeartbeatRequest) == "broker_heartbeat"


def _recorded(request: type) -> str:
    return api_of(request)


def _no_answer() -> Any:
    raise Closed("gone")
