"""The clients of a run say nothing on a terminal, whatever happens to them."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from harness.clients.settings import common
from harness.plan.model import Timing


def test_a_client_with_much_to_say_says_nothing_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    talkative = {"log_level": 7, "debug": "all", "test.mock.num.brokers": 1}
    client = Producer(common("", Timing(), "talkative") | talkative)
    client.list_topics(timeout=5)
    client.poll(0)

    assert capfd.readouterr() == ("", "")
