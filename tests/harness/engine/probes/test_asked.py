"""A request goes to the listener that is for it, and in the name of the user that the plan has."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from fencepost.harness.clients.login import Credentials
from fencepost.harness.engine.context import Clients
from fencepost.harness.engine.probes import asked
from fencepost.harness.engine.probes.asked import AskedRun
from fencepost.harness.network.layout import Listener, Node, Role
from fencepost.harness.plan.answers import ProbeAnswer, ProbeOutcome
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.heartbeat import HeartbeatProbe
from fencepost.harness.plan.requests.metadata import MetadataProbe
from fencepost.harness.plan.requests.request import KafkaRequest
from fencepost.harness.plan.requests.vote import VoteProbe
from tests.harness.engine.still_context import PLAN, healthy, still_context

BROKER, CONTROLLER = frozenset({Role.BROKER}), frozenset({Role.CONTROLLER})


def answer(
    probe: KafkaRequest,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    roles: frozenset[Role] = BROKER,
    error: ErrorCode = ErrorCode.none,
) -> tuple[list[object], ProbeAnswer]:
    """Return listener, timeout and users of a request to a node with these roles, and its answer."""
    context = still_context(path, healthy(), plan=PLAN.model_copy(update={"security": "sasl"}))
    cluster: Any = context.cluster
    cluster.node = lambda name: Node(name, 4, 4, roles, "127.0.0.4")
    seen: list[object] = []

    def connect(_: Clients, node: str, listener: Listener, timeout: float, *, login: bool) -> Any:
        assert not login, "a probe logs in by itself, since the answer to that is its outcome"
        seen.extend([listener, timeout])
        return nullcontext()

    def log_in(_: object, credentials: Credentials) -> ErrorCode:
        seen.append(credentials.user)
        return error

    monkeypatch.setattr(Clients, "connect", connect)
    monkeypatch.setattr(asked, "log_in", log_in)
    monkeypatch.setattr(type(probe), "exchange", lambda *_: ProbeAnswer(ProbeOutcome.SERVED))
    return seen, probe.ask(AskedRun(context, "node-4"))


@pytest.mark.parametrize(
    ("probe", "roles", "seen"),
    [
        (MetadataProbe(node="node-4"), BROKER, [Listener.CLIENT, 1.0]),
        (HeartbeatProbe(node="node-4", broker="node-5"), BROKER, [Listener.INTERNAL, 1.0, "broker"]),
        (HeartbeatProbe(node="node-4", broker="node-5", user="bob"), BROKER, [Listener.INTERNAL, 1.0, "bob"]),
        (VoteProbe(node="node-4", candidate="node-1"), CONTROLLER, [Listener.CONTROLLER, 1.0, "broker"]),
        (ApiProbe(node="node-4", api="vote"), CONTROLLER, [Listener.CONTROLLER, 1.0, "broker"]),
        (ApiProbe(node="node-4", api="vote", to_peers=True), BROKER, [Listener.INTERNAL, 1.0, "broker"]),
        (ApiProbe(node="node-4", api="vote", login=False), CONTROLLER, [Listener.CONTROLLER, 1.0]),
        (ApiProbe(node="node-4", api="vote"), BROKER | CONTROLLER, [Listener.CLIENT, 1.0]),
        (ApiProbe(node="active-controller", api="vote"), BROKER | CONTROLLER, [Listener.CONTROLLER, 1.0, "broker"]),
    ],
)
def test_a_request_goes_to_its_listener_in_the_name_of_its_user(
    probe: KafkaRequest, roles: frozenset[Role], seen: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answer(probe, tmp_path, monkeypatch, roles=roles) == (seen, ProbeAnswer(ProbeOutcome.SERVED))


def test_a_refused_login_is_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guest = HeartbeatProbe(node="node-4", broker="node-5", user="bob")
    _, refused = answer(guest, tmp_path, monkeypatch, error=ErrorCode.sasl_authentication_failed)
    assert (refused.outcome, refused.error, refused.body["user"]) == (ProbeOutcome.REFUSED, 58, "bob")
