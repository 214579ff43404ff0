"""The heartbeats of a broker (KIP-631, Broker Registration and State Management)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from fencepost.cluster_impl.config.nodes import QuorumBrokerNodeConfig
from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.broker.lifecycle import (
    HeartbeatAnswer,
    LeaseHeartbeat,
    LeaseLifecycle,
    LeaseLoss,
)
from fencepost.cluster_impl.designs.quorum.broker.link import ActiveControllerLink
from fencepost.cluster_impl.designs.quorum.features import SUPPORTED
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.image import NO_EPOCH
from fencepost.cluster_impl.designs.shared.heartbeats import RETRY_S, HeartbeatSender, HeartbeatTiming
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import RequestMessage, signed16
from fencepost.cluster_impl.wire.errors import Error

log = logging.getLogger(__name__)


def reported(config: QuorumBrokerNodeConfig) -> list[m.BrokerHeartbeatRequest.Listener]:
    """Return the advertised listeners of a broker as its heartbeats report them."""
    return [
        m.BrokerHeartbeatRequest.Listener(
            name=at.name,
            host=at.host,
            port=signed16(at.port),
            security_protocol=config.security.protocol_of(at.name).number,
        )
        for at in config.advertised()
    ]


class LeaseHeartbeats(HeartbeatSender[LeaseHeartbeat, m.BrokerHeartbeatResponse]):
    """Runs a `LeaseLifecycle` against the active controller.

    `reached` returns the metadata offset reached so far. `on_epoch` is called as soon as an epoch is granted, before
    the next heartbeat can report that the broker has caught up.
    """

    _lifecycle: LeaseLifecycle

    def __init__(
        self,
        broker_id: int,
        listeners: Sequence[m.BrokerHeartbeatRequest.Listener],
        rack: str | None,
        lifecycle: LeaseLifecycle,
        link: ActiveControllerLink,
        finder: ControllerFinder,
        timing: HeartbeatTiming,
        reached: Callable[[], int],
        on_epoch: Callable[[], None],
    ) -> None:
        super().__init__(lifecycle, link, timing)
        self._broker_id = broker_id
        self._listeners = list(listeners)
        self._rack = rack
        self._finder = finder
        self._reached = reached
        self._on_epoch = on_epoch

    def metadata_advanced(self) -> None:
        """Send a heartbeat at once if the broker waited for this metadata to become active."""
        lifecycle = self._lifecycle
        if lifecycle.state is FenceState.FENCED and lifecycle.loss is None and self._reached() >= lifecycle.epoch:
            self.beat_now()

    def stop(self) -> None:
        """Ask for a controlled shutdown; `run` returns when it is granted or cannot be granted any more."""
        self._lifecycle.stop()
        self.beat_now()

    def _is_done(self) -> bool:
        return self._lifecycle.stopped

    def _state(self) -> str:
        lifecycle = self._lifecycle
        epoch = "no epoch" if lifecycle.epoch == NO_EPOCH else f"epoch {lifecycle.epoch}"
        why = "" if lifecycle.loss is None else f": {lifecycle.loss.value}"
        return f"{lifecycle.state.name} with {epoch}{why}"

    def _request(self, heartbeat: LeaseHeartbeat) -> m.BrokerHeartbeatRequest:
        return m.BrokerHeartbeatRequest(
            target_state=heartbeat.target_state,
            broker_id=self._broker_id,
            broker_epoch=heartbeat.broker_epoch,
            lease_start_time_ms=time.time_ns() // 1_000_000,
            cur_metadata_offset=self._reached(),
            listeners=self._listeners,
            rack=self._rack,
            features=[
                m.BrokerHeartbeatRequest.SupportedFeature(name=name, min_version=has.lowest, max_version=has.highest)
                for name, has in SUPPORTED.items()
            ],
        )

    def _received(
        self,
        heartbeat: LeaseHeartbeat,
        request: RequestMessage[m.BrokerHeartbeatResponse],
        sender: int,
        reply: m.BrokerHeartbeatResponse,
    ) -> float:
        assert isinstance(request, m.BrokerHeartbeatRequest)
        lease = (reply.lease_end_time_ms - request.lease_start_time_ms) / 1000
        answer = HeartbeatAnswer(Error(reply.error_code), FenceState(reply.next_state), reply.broker_epoch, lease)
        before = self._lifecycle.epoch
        self._lifecycle.answered(heartbeat, answer, time.monotonic())
        self.log_state()
        if answer.error is Error.NOT_CONTROLLER:
            self._finder.failed(sender)
            self._finder.learned(reply.active_controller_id)
            self._no_controller(f"controller {sender} is not active")
            return RETRY_S
        self._controller_answers(sender)
        if answer.error is Error.UNSUPPORTED_VERSION:
            log.error(
                "the active controller, %d, refuses this broker: it does not support the level of a feature that the "
                "cluster has (%s); run newer software",
                sender,
                ", ".join(f"{name} {has.lowest} to {has.highest} here" for name, has in SUPPORTED.items()),
            )
        elif answer.error not in (Error.NONE, Error.STALE_BROKER_EPOCH):
            log.warning("the active controller, %d, refuses this broker: %s", sender, answer.error.name)
        self._finder.learned(sender)
        if self._lifecycle.epoch != before:
            self._on_epoch()
        self.metadata_advanced()
        return self._pause_after(answer)

    def _pause_after(self, answer: HeartbeatAnswer) -> float:
        """Return a short pause after a lease was revoked, or while a shutdown waits for leaders that move."""
        lifecycle = self._lifecycle
        soon = lifecycle.loss in (LeaseLoss.REVOKED, LeaseLoss.RAN_OUT) or lifecycle.stopping
        return min(RETRY_S, self._timing.interval) if soon and answer.error is Error.NONE else self._timing.interval
