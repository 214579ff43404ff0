"""The topics that there are, as a client lists them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from confluent_kafka.admin import AdminClient


def topics_there(admin: AdminClient, names: Collection[str], timeout: float) -> Mapping[str, Any]:
    """Return the topics that there are, at least those of `names`. Raise KafkaException if no broker answers.

    The client library ends the process if a topic in its list has no name. A broker has to refuse such a topic; where
    one was asked for, the others are asked for one by one.
    """
    if "" not in names:
        return dict(admin.list_topics(timeout=timeout).topics)
    found = (admin.list_topics(name, timeout).topics[name] for name in names if name)
    return {str(each.topic): each for each in found if each.error is None}
