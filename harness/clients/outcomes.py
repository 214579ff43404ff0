"""What a producer's report says about a record: acknowledged, certainly refused, or unknown.

Unknown is the rule: a timeout, a lost connection, or error 20 (appended, then too few replicas) may have left the
record in the log. A refusal is certain only if it comes before the append, and only if it answers the one attempt
there was: with retries, an earlier attempt may have been appended.
"""

from typing import Final

from confluent_kafka import KafkaError

from harness.checkers.history import Outcome

_NEVER_DISPATCHED: Final = frozenset(
    {
        KafkaError._QUEUE_FULL,
        KafkaError._PURGE_QUEUE,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
    }
)
_REFUSED_BEFORE_APPEND: Final = frozenset(
    {
        KafkaError.OFFSET_OUT_OF_RANGE,
        KafkaError.INVALID_MSG,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.INVALID_REQUIRED_ACKS,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT,
        KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.STALE_BROKER_EPOCH,
        KafkaError.INVALID_RECORD,
    }
)


def classify(error: KafkaError | None, *, retried: bool) -> Outcome:
    """`retried`: whether the client may have made more than one attempt."""
    if error is None:
        return Outcome.OK
    if error.code() in _NEVER_DISPATCHED or (error.code() in _REFUSED_BEFORE_APPEND and not retried):
        return Outcome.FAIL
    return Outcome.INFO
