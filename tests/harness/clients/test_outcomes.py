import pytest
from confluent_kafka import KafkaError

from harness.checkers.history import Outcome
from harness.clients.outcomes import classify


def test_no_error_is_an_acknowledgement() -> None:
    assert classify(None, retried=True) is Outcome.OK


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
    assert classify(KafkaError(code), retried=retried) is Outcome.INFO


@pytest.mark.parametrize("code", [KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.NOT_LEADER_FOR_PARTITION])
def test_a_refusal_before_the_append_is_certain_only_for_the_one_attempt_there_was(code: int) -> None:
    assert classify(KafkaError(code), retried=False) is Outcome.FAIL
    assert classify(KafkaError(code), retried=True) is Outcome.INFO


@pytest.mark.parametrize("code", [KafkaError._QUEUE_FULL, KafkaError._PURGE_QUEUE])
def test_what_never_left_the_client_has_failed(code: int) -> None:
    assert classify(KafkaError(code), retried=True) is Outcome.FAIL
