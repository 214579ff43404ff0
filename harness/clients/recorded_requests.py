"""The requests that may change what nodes describe, in the journal as they are sent and answered.

The model of the cluster's state rests on them (`harness/model`). All connections of the harness record them, whatever
step, condition or request of the plan sends them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from kio.static.protocol import RequestPayload

from fencepost.harness.model.kinds import CHANGING
from fencepost.harness.model.sent import Sent
from fencepost.harness.plan import messages
from fencepost.harness.plan.model import TopicSpec
from fencepost.harness.wire.no_answer import NoAnswer
from fencepost.results.records.journal import JournalWriter

REQUEST = "request"
"""The `f` of these operations: `api`, `version`, `body`, and `response` in the answer."""
_SECRETS = frozenset({"salt", "salted_password", "auth_bytes", "hmac"})

Response = TypeVar("Response")


@dataclass
class RequestRecorder:
    """Writes changing requests to the journal, and keeps them for comparisons while the run goes on."""

    journal: JournalWriter
    sent: dict[str, Sent] = field(default_factory=dict)
    """By the id of the operation, in the order of their beginnings."""
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def record(self, node: str, request: RequestPayload, call: Callable[[], Response]) -> Response:
        """Return what `call` answers to the request. Raise what it raises."""
        api = api_of(type(request))
        if api not in CHANGING or (api == "produce" and getattr(request, "transactional_id", None) is None):
            return call()
        op = f"{REQUEST}-{next(self._numbers)}"
        body = _without_secrets(messages.plain(request))
        data = {"process": "requests", "f": REQUEST, "api": api, "version": int(request.__version__)}
        begun = self.journal.write("op", op, "invoke", data | {"body": body}, node=node).t
        self.sent[op] = Sent(api, body, begun, node=node)
        try:
            answer = call()
        except NoAnswer as error:
            self.journal.write("op", op, "info", data | {"error": str(error)}, node=node)
            raise
        response = _without_secrets(messages.plain(answer))
        ended = self.journal.write("op", op, "ok", data | {"response": response}, node=node).t
        self.sent[op] = Sent(api, body, begun, ended, response, node)
        return answer

    @contextmanager
    def creating(self, topics: Iterable[TopicSpec]) -> Iterator[None]:
        """Record the creation of a plan's topics by a client library, which has succeeded when the block ends."""
        op = f"{REQUEST}-{next(self._numbers)}"
        created = [_creation(topic) for topic in topics if not topic.prepared]
        data = {"process": "requests", "f": REQUEST, "api": "create_topics"}
        body = {"topics": created, "validate_only": False}
        begun = self.journal.write("op", op, "invoke", data | {"body": body}).t
        self.sent[op] = Sent("create_topics", body, begun)
        yield
        response = {"topics": [{"name": topic["name"], "error_code": 0} for topic in created]}
        ended = self.journal.write("op", op, "ok", data | {"response": response}).t
        self.sent[op] = Sent("create_topics", body, begun, ended, response)


def _creation(topic: TopicSpec) -> dict[str, Any]:
    """Return the part of a CreateTopics request about one topic."""
    assignments = [
        {"partition_index": number, "broker_ids": list(replicas)} for number, replicas in enumerate(topic.assignments)
    ]
    configs = [{"name": name, "value": value} for name, value in topic.config.items()]
    return {"name": topic.name, "num_partitions": -1, "assignments": assignments, "configs": configs}


@cache
def api_of(request: type) -> str:
    """Return the API of a class of requests in snake case. Its key does not tell it: drafts have keys of other APIs."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", request.__name__.removesuffix("Request")).lower()


def _without_secrets(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _without_secrets(part) for key, part in value.items() if key not in _SECRETS}
        case list():
            return [_without_secrets(part) for part in value]
    return value
