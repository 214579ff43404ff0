"""Questions are requests: what a kind looks for in the answers is no part of them."""

from __future__ import annotations

from dataclasses import fields

import pytest

from fencepost.harness.model.kind import Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.plan import messages


@pytest.mark.parametrize("name", KINDS)
def test_the_body_of_a_question_has_fields_of_its_request_alone(name: str) -> None:
    scope = Scope(["t"], node_id=4, metadata_topic="m", objects=["t-0 as 7 of a"])
    for question in KINDS[name].questions(scope):
        requests = [messages.payload_types(question.api, each)[0] for each in messages.versions(question.api)]
        assert set(question.body) <= {field.name for request in requests for field in fields(request)}
