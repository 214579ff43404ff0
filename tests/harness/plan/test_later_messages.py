"""Messages that kio lacks, or cannot read, are read as nodes send them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from fencepost.harness.plan import messages


@pytest.mark.parametrize("start", [-1, 1_700_000_000_000])
def test_the_start_of_a_transaction_that_has_not_begun_is_read(start: int) -> None:
    _, response = messages.payload_types("describe_transactions", 0)
    state = {
        "error_code": ErrorCode.none,
        "transactional_id": "x",
        "transaction_state": "Empty",
        "transaction_timeout": 60_000,
        "transaction_start_time": start,
        "producer_id": 7,
        "producer_epoch": 0,
        "topics": [],
    }
    built: Any = messages.build(
        response, {"throttle_time": 0, "transaction_states": [state]}, lambda _: messages.UNKNOWN
    )
    out = io.BytesIO()
    entity_writer(response)(out, built)
    read: Any = entity_reader(response)(out.getvalue(), 0)[0]
    assert messages.plain(read)["transaction_states"] == [state]
