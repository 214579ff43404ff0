import pytest
from confluent_kafka import KafkaError

from fencepost.harness.checkers.history import SendOutcome
from fencepost.harness.clients.outcomes import classify


def test_no_error_is_an_acknowledgement() -> None:
    assert classify(None, acks="all", retried=True) is SendOutcome.OK


@pytest.mark.parametrize(
    "code",
    [
        KafkaError._MSG_TIMED_OUT,
        KafkaError._TRANSPORT,
        KafkaError._PURGE_INFLIGHT,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        KafkaError.UNKNOWN,
        KafkaError.KAFKA_STORAGE_ERROR,
    ],
)
@pytest.mark.parametrize("retried", [True, False])
@pytest.mark.requirement("DSTO-02", "DV-07")
def test_what_may_have_been_appended_is_unknown(code: int, retried: bool) -> None:
    assert classify(KafkaError(code), acks="all", retried=retried) is SendOutcome.INFO


@pytest.mark.parametrize(
    ("code", "acks"),
    [
        (KafkaError.NOT_ENOUGH_REPLICAS, "all"),
        (KafkaError.NOT_LEADER_FOR_PARTITION, "1"),
        (KafkaError._PURGE_QUEUE, "all"),
    ],
)
def test_a_refusal_before_the_append_is_certain_only_for_the_one_attempt_there_was(code: int, acks: str) -> None:
    assert classify(KafkaError(code), acks=acks, retried=False) is SendOutcome.FAIL
    assert classify(KafkaError(code), acks=acks, retried=True) is SendOutcome.INFO


@pytest.mark.parametrize("code", [KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART])
def test_a_leader_that_is_deposed_while_a_record_waits_leaves_it_unknown(code: int) -> None:
    assert classify(KafkaError(code), acks="all", retried=False) is SendOutcome.INFO


def test_what_never_got_into_the_client_has_failed() -> None:
    assert classify(KafkaError(KafkaError._QUEUE_FULL), acks="all", retried=True) is SendOutcome.FAIL
