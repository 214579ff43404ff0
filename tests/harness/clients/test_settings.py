"""The clients of a run say nothing on a terminal, whatever happens to them."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, Producer

from fencepost.harness.clients.settings import common, consumer, member, producer, transactional
from fencepost.harness.plan.model import MembershipSpec, Timing


def test_a_client_with_much_to_say_says_nothing_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    talkative = {"log_level": 7, "debug": "all", "test.mock.num.brokers": 1}
    client = Producer(common({}, Timing(), "talkative") | talkative)
    client.list_topics(timeout=5)
    client.poll(0)

    assert capfd.readouterr() == ("", "")


def test_a_transaction_may_be_shorter_than_the_timeout_of_a_request() -> None:
    """The library refuses such a producer where the two timeouts contradict each other.

    It has no brokers: errors of connections would count in its length, too.
    """
    idempotent = producer({}, Timing(lease_ms=9000), "p", acks="all", idempotent=True, retry=True, timeout_ms=60_000)
    made = Producer(transactional(idempotent, "p", 5000))
    assert len(made) == 0


@pytest.mark.parametrize(
    "membership",
    [
        MembershipSpec(group="g", strategy="cooperative-sticky", static=True),
        MembershipSpec(group="g", strategy="uniform", protocol="consumer", static=True),
    ],
)
def test_the_library_takes_the_settings_of_members_of_either_protocol(membership: MembershipSpec) -> None:
    """It refuses a session, a heartbeat or a strategy of a member whose coordinator decides about them."""
    Consumer(member(consumer({}, Timing(), "m"), membership, "m")).close()
