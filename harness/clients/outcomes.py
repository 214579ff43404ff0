"""Classify the delivery report of a record: acknowledged, certainly refused, or unknown.

Unknown is the rule: a timeout, a lost connection, or error 20 (appended, then too few replicas) may have left the
record in the log. A refusal is certain only if it comes before the append, and only if it answers the one attempt
there was: with retries, an earlier attempt may have been appended, also of a record that waits in the client again.
At acks=all a leader may answer after the append that it leads no more, or knows the partition no more: what it had
appended, its successor may have fetched.
"""

from typing import Final

from confluent_kafka import KafkaError

from fencepost.harness.checkers.history import SendOutcome

_NEVER_DISPATCHED: Final = frozenset(
    {
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


_WHILE_IT_WAITED: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.FENCED_LEADER_EPOCH,
    }
)
"""Before the append, or, at acks=all, while it waited for other replicas."""


def classify(error: KafkaError | None, *, acks: str, retried: bool) -> SendOutcome:
    """`retried`: whether the client may have made more than one attempt."""
    if error is None:
        return SendOutcome.OK
    code = error.code()
    if code == KafkaError._QUEUE_FULL:
        return SendOutcome.FAIL
    certain = _NEVER_DISPATCHED | _REFUSED_BEFORE_APPEND - (_WHILE_IT_WAITED if acks == "all" else frozenset())
    return SendOutcome.FAIL if code in certain and not retried else SendOutcome.INFO
