"""The edge of the core: gives it the log, the clock and the sockets, and performs its effects.

The event loop calls the core and performs its effects at once and in order. Only the fsync of the log, in a thread, and
requests to peers take longer. All records that are appended during one fsync share the next.
"""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from fencepost.cluster_impl.config.quorum import QuorumConfig
from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.core import NotLeader, RaftCore, VoterChangeRefused
from fencepost.cluster_impl.designs.quorum.raft.describe import describe_quorum
from fencepost.cluster_impl.designs.quorum.raft.listener import RaftListener
from fencepost.cluster_impl.designs.quorum.raft.messages import EpochEnd, FetchSnapshotRequest, FetchSnapshotResponse
from fencepost.cluster_impl.designs.quorum.raft.messages import Request as RaftRequest
from fencepost.cluster_impl.designs.quorum.raft.metadata_log import MetadataLog
from fencepost.cluster_impl.designs.quorum.raft.metadata_topic import PARTITION, TOPIC
from fencepost.cluster_impl.designs.quorum.raft.peer import PeerBook
from fencepost.cluster_impl.designs.quorum.raft.quorum_state_file import QuorumStateFile
from fencepost.cluster_impl.designs.quorum.raft.roles import VoterSettings
from fencepost.cluster_impl.designs.quorum.raft.snapshot_files import SnapshotFiles
from fencepost.cluster_impl.designs.quorum.raft.snapshot_format import DamagedSnapshot
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState, VoterRole
from fencepost.cluster_impl.designs.quorum.raft.translate import (
    MAX_BYTES,
    announced_leader,
    read_request,
    refusal_message,
    response_message,
)
from fencepost.cluster_impl.designs.quorum.raft.voters import Address, VoterHistory, VoterSet
from fencepost.cluster_impl.designs.quorum.raft.waiting import LostLeadership, WaitingCallers, complete
from fencepost.cluster_impl.storage.directory import LogDir
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import Connect
from fencepost.cluster_impl.wire.codec import Malformed, Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import CloseConnection, Handler, Request

log = logging.getLogger(__name__)

NO_NODE = -1
"""The leader id if there is no leader."""
_RESIGN_TIMEOUT_S = 0.2
"""Seconds to wait, when the node stops, until the peers have received its resignation."""


@dataclass(slots=True)
class _PendingRequest:
    """A request of a peer or an observer that waits for its response."""

    version: int
    answer: asyncio.Future[Message | None]


class RaftNode:
    """A voter of the metadata quorum. `handlers` go on the controllers' listener, which may open before `start`."""

    def __init__(self, node_id: int, config: QuorumConfig, log_dir: LogDir, connect: Connect) -> None:
        """`connect` opens connections to other controllers."""
        self._node_id = node_id
        self._config = config
        self._folder = log_dir.partition_path(TOPIC, PARTITION)
        self._listener: RaftListener
        self._configured = {voter.id: (voter.host, voter.port) for voter in config.voters}
        self._learned: dict[int, Address] = {}
        """Addresses that other controllers named."""
        self._peers = PeerBook(connect, config.request_timeout, self.address_of, self._learned.update)
        self._core: RaftCore | None = None
        self._log: MetadataLog
        self._state_file = QuorumStateFile(self._folder, config.cluster_id, tuple(sorted(config.voter_ids)))
        self._snapshots = SnapshotFiles(self._folder)
        self._writing = False
        self._named_in_snapshot = False
        self._fsync = ThreadPoolExecutor(max_workers=1, thread_name_prefix="raft-fsync")
        self._effects: deque[fx.Effect] = deque()
        self._performing = False
        self._vote: tuple[int, int | None] = (0, None)
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = float("inf")
        self._waiting = WaitingCallers(node_id)
        self._failure: asyncio.Future[None] | None = None
        self.handlers: Mapping[int, Handler] = {
            m.FetchRequest.API_KEY: self._handle,
            m.VoteRequest.API_KEY: self._handle,
            m.BeginQuorumEpochRequest.API_KEY: self._handle,
            m.EndQuorumEpochRequest.API_KEY: self._handle,
            m.FetchSnapshotRequest.API_KEY: self._handle,
            m.DescribeQuorumRequest.API_KEY: self._describe,
        }

    async def start(self, listener: RaftListener) -> None:
        """Load the newest good snapshot, open the log, join the quorum and notify `listener` from now on.

        Raises OSError, CorruptQuorumState, LogGap, and what `on_snapshot` raises.
        """
        self._listener = listener
        self._folder.mkdir(parents=True, exist_ok=True)
        found = self._snapshots.find()
        self._log = MetadataLog(self._folder, found.snapshots)
        recovered = self._log.recovered
        try:
            state = self._state_file.read(log_is_empty=recovered.shape.end_offset == 0)
            if found.snapshots:
                self._load(found.snapshots[-1], found.values)
        except BaseException:
            self._log.close()
            raise
        self._vote = (state.epoch, state.voted_id)
        # A controller that its own file does not name joins a quorum that exists, without a vote at first.
        configured = self._config.voter_addresses if self._node_id in self._config.voter_ids else {}
        first = found.voters or VoterSet.of(configured)
        self._named_in_snapshot = found.voters is not None
        start = found.snapshots[-1].end_offset if found.snapshots else recovered.shape.start.end_offset
        voters = VoterHistory(first, self._log.voter_changes(start))
        self._failure = asyncio.get_running_loop().create_future()
        settings = VoterSettings(
            self._node_id,
            frozenset(configured),
            self._config.cluster_id,
            self._config.election_timeout,
            self._config.fetch_timeout,
            self._config.fetch_max_wait,
            frozenset(self._configured),
        )
        self._core = RaftCore(settings, state, recovered.shape, Random(), time.monotonic(), recovered.snapshots, voters)
        self._changed_voters(voters.latest)
        if self._core.leader_id is not None:
            self._listener.on_leader(self._core.leader_id, self._core.epoch)
        self._input(RaftCore.tick)

    async def failed(self) -> None:
        """Wait for ever, or raise the failure that ended this node: a failing disk, or committed records at risk."""
        assert self._failure is not None
        await asyncio.shield(self._failure)

    async def close(self) -> None:
        """Resign and stop. Does nothing before `start`."""
        if self._failure is None:
            return
        before = set(self._tasks)
        self._input(RaftCore.resign)
        self._core = None
        if self._timer is not None:
            self._timer.cancel()
        if notices := self._tasks - before:
            await asyncio.wait(notices, timeout=_RESIGN_TIMEOUT_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._peers.close()
        self._fsync.shutdown()
        self._log.close()

    @property
    def epoch(self) -> int:
        """The newest epoch that this node knows. Raises NotLeader if it does not run."""
        return self._running.epoch

    @property
    def leader_id(self) -> int | None:
        """The leader of `epoch` as this node knows it, or None, also if this node does not run."""
        return None if self._core is None else self._core.leader_id

    @property
    def last_stable_offset(self) -> int:
        """All records below this offset are committed."""
        return self._running.log.high_watermark

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self._running.log.end_offset

    def append(self, records: Sequence[bytes], epoch: int) -> int:
        """Append one atomic batch as the leader of `epoch`; return the offset of its last record. Raises NotLeader."""
        self._input(RaftCore.tick)
        self._check_leads(epoch)
        self._input(lambda core, now: core.append(records, now))
        return self._running.log.end_offset - 1

    @property
    def voters(self) -> VoterSet:
        """The set of voters that holds now. Raises NotLeader if this node does not run."""
        return self._running.voters.latest

    def address_of(self, node_id: int) -> Address | None:
        """Return host and port of a controller; None if this node knows none."""
        named = {} if self._core is None else self._core.voters.latest.addresses
        return named.get(node_id) or self._learned.get(node_id) or self._configured.get(node_id)

    def change_voters(self, voters: VoterSet) -> tuple[int, int]:
        """Append a set of voters, which holds at once; return its offset and the epoch of this leadership.

        Raises NotLeader, VoterChangeRefused.
        """
        self._input(RaftCore.tick)
        self._check_leads()
        self._input(lambda core, now: core.change_voters(voters, now))
        return self._running.voters.last_offset, self._running.epoch

    def caught_up(self, node_id: int, end_offset: int) -> bool:
        """Return whether a controller without a vote has all records below `end_offset`. Raises NotLeader."""
        self._input(RaftCore.tick)
        self._check_leads()
        return self._running.caught_up(node_id, end_offset, time.monotonic())

    async def committed(self, offset: int, epoch: int) -> None:
        """Return once `offset` is committed in the leadership of `epoch`. Raises LostLeadership."""
        self._check_still_leads(epoch)
        if offset >= self.last_stable_offset:
            await self._waiting.for_commit(offset)

    async def confirm_leadership(self) -> None:
        """Return once a majority has confirmed the epoch in a round that began after this call.

        Raises LostLeadership.
        """
        self._input(RaftCore.tick)
        self._check_still_leads()
        done = self._waiting.for_confirmation()
        self._input(lambda core, now: core.confirm(done, now))
        await done

    @property
    def snapshot_offset(self) -> int:
        """The end of the newest snapshot of this node, 0 without one."""
        if self._core is None or not self._core.log.snapshots:
            return 0
        return self._core.log.snapshots[-1].end_offset

    def start_snapshot(self) -> None:
        """Begin to write a snapshot of the committed records, unless one is being written or would say nothing new."""
        core = self._core
        if core is None or self._writing:
            return
        point = core.snapshot_point()
        # Within `on_commit` the listener may have seen less than the core has committed.
        if self.snapshot_offset < point.end_offset == self._log.delivered:
            self._writing = True
            changed = core.voters.last_offset >= 0 or self._named_in_snapshot
            voters = core.voters.at(point.end_offset) if changed else None
            self._spawn(self._write_snapshot(point, self._listener.snapshot(), voters))

    @property
    def _running(self) -> RaftCore:
        if self._core is None:
            raise NotLeader(f"controller {self._node_id} is not running")
        return self._core

    def _check_leads(self, epoch: int | None = None) -> None:
        """Raise NotLeader unless this node leads `epoch`, or the present epoch if None."""
        core = self._running
        if core.role is not VoterRole.LEADER or epoch not in (None, core.epoch):
            raise NotLeader(
                f"controller {core.node_id} is {core.role.value} in epoch {core.epoch}, not leader of {epoch}"
            )

    def _check_still_leads(self, epoch: int | None = None) -> None:
        try:
            self._check_leads(epoch)
        except NotLeader as error:
            raise LostLeadership(str(error)) from error

    # Requests

    def _handle(self, request: Request) -> Message | asyncio.Future[Message | None]:
        if self._core is None:
            raise CloseConnection("this controller has not joined the quorum")
        try:
            raft_request = read_request(request.body, request.version)
        except Malformed:
            return refusal_message(request.body)
        self._learned.update(announced_leader(request.body))
        answer: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
        token = _PendingRequest(request.version, answer)
        self._input(lambda core, now: core.receive(raft_request, token, now))
        return answer

    def _describe(self, request: Request) -> Message:
        if self._core is None:
            raise CloseConnection("this controller has not joined the quorum")
        assert isinstance(request.body, m.DescribeQuorumRequest)
        return describe_quorum(request.body, self._core, time.monotonic(), time.time())

    # The core

    def _input(self, step: Callable[[RaftCore, float], list[fx.Effect]]) -> None:
        """Give the core an input and perform the effects. Effects of inputs that a listener adds meanwhile come
        after."""
        if self._core is None:
            return
        try:
            self._effects.extend(step(self._core, time.monotonic()))
            if not self._performing:
                self._performing = True
                try:
                    while self._effects:
                        self._perform(self._effects.popleft())
                finally:
                    self._performing = False
                self._set_timer()
        except (NotLeader, VoterChangeRefused):
            raise
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Stop after a failure between decision and disk, because going on could break a promise to other voters."""
        assert self._failure is not None
        if self._failure.done():
            return
        log.critical("this controller stops: %s", error)
        self._core = None
        self._failure.set_exception(error)
        self._failure.exception()  # marks the exception as retrieved, also if no caller awaits `failed`
        self._effects.clear()
        self._waiting.give_up()

    def _set_timer(self) -> None:
        """Keep one timer, no later than the core's deadline; an early tick does no harm."""
        if self._core is None:
            return
        deadline = self._core.deadline()
        if self._timer is not None and self._timer_at <= deadline:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        delay = max(0.001, deadline - time.monotonic())
        self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._input(RaftCore.tick)

    def _perform(self, effect: fx.Effect) -> None:
        match effect:
            case fx.Persist(state):
                self._persist(state)
            case fx.Append(batches):
                self._log.append_fetched(batches)
            case fx.AppendRecords(base_offset, epoch, records):
                self._log.append_records(base_offset, epoch, records)
            case fx.AppendLeaderChange():
                self._log.append_leader_change(effect)
            case fx.AppendVoters(base_offset, epoch, voters):
                self._log.append_voters(base_offset, epoch, voters)
            case fx.VotersChange(voters):
                self._changed_voters(voters)
            case fx.Truncate(end_offset):
                log.info("truncated the metadata log to %d", end_offset)
                self._log.truncate(end_offset)
            case fx.Flush(end_offset):
                self._spawn(self._flush(end_offset))
            case fx.Send(peer, correlation, request):
                self._spawn(self._ask(peer, correlation, request))
            case fx.Notify(peer, request):
                self._spawn(self._notify(peer, request))
            case fx.Reply(_PendingRequest(version, waiting), response):
                complete(waiting, response_message(response, version, voters=self._named_voters()))
            case fx.ReplyWithRecords(_PendingRequest(version, waiting), response, start, limit):
                found = self._log.read(start.end_offset, limit)
                complete(waiting, response_message(response, version, found, self._named_voters()))
            case fx.ReplyWithSnapshot(_PendingRequest(version, waiting), part, response):
                complete(waiting, response_message(self._snapshot_part(part, response), version))
            case fx.StoreSnapshotPart(snapshot, position, data):
                self._snapshots.store_part(snapshot, position, data)
            case fx.InstallSnapshot(snapshot):
                self._install(snapshot)
            case fx.CutLog(snapshots):
                begin = self._log.cut_before(snapshots[0].end_offset)
                log.info(
                    "the metadata log is cut behind the snapshot at %d; it begins at %d", snapshots[0].end_offset, begin
                )
                self._snapshots.remove_before(snapshots[0])
            case fx.HighWatermarkAdvance(high_watermark):
                self._deliver(high_watermark)
            case fx.LeaderElection(epoch):
                self._listener.on_elected(epoch)
            case fx.LeaderResignation():
                self._waiting.give_up()
                self._listener.on_resigned()
            case fx.LeaderChange(leader_id, epoch):
                self._listener.on_leader(NO_NODE if leader_id is None else leader_id, epoch)
            case fx.LeadershipConfirmation(tokens):
                self._waiting.confirmed(tokens)

    def _named_voters(self) -> Mapping[int, Address]:
        return self._running.voters.latest.addresses or self._config.voter_addresses

    def _changed_voters(self, voters: VoterSet) -> None:
        if self._node_id not in voters.ids:
            log.info("this controller has no vote; the voters are %s", sorted(voters.ids) or "not known yet")
        elif self._core is not None and self._core.voters.last_offset >= 0:
            log.info("the voters are %s", sorted(voters.ids))
        self._listener.on_voters(voters.ids)

    def _persist(self, state: QuorumState) -> None:
        self._state_file.write(state)
        vote = (state.epoch, state.voted_id)
        if state.voted_id is not None and vote != self._vote:
            log.info("epoch %d: this controller votes for %d", *vote)
        self._vote = vote

    def _load(self, snapshot: EpochEnd, values: Sequence[bytes]) -> None:
        log.info("loaded the snapshot at %d: %d records", snapshot.end_offset, len(values))
        self._listener.on_snapshot(values, snapshot.end_offset)

    def _install(self, snapshot: EpochEnd) -> None:
        """Put a fetched snapshot in the place of the log. The file is durable before the log goes."""
        try:
            values = self._snapshots.install(snapshot)
        except DamagedSnapshot as error:
            log.error("the fetched snapshot %s is refused: %s", self._snapshots.path(snapshot), error)
            self._input(RaftCore.snapshot_refused)
            return
        self._log.begin_anew(snapshot)
        self._snapshots.remove_before(snapshot)
        log.info("fetched the snapshot at %d", snapshot.end_offset)
        self._load(snapshot, values)
        voters = self._snapshots.voters(snapshot)
        self._named_in_snapshot = voters is not None
        self._input(lambda core, now: core.snapshot_installed(snapshot, now, voters))

    def _snapshot_part(self, request: FetchSnapshotRequest, response: FetchSnapshotResponse) -> FetchSnapshotResponse:
        size, data = self._snapshots.read_part(request.snapshot, request.position, MAX_BYTES)
        if request.position > size:
            return replace(response, error=Error.POSITION_OUT_OF_RANGE)
        return replace(response, size=size, position=request.position, data=data)

    def _deliver(self, high_watermark: int) -> None:
        for records in self._log.committed_records(high_watermark):
            self._listener.on_commit(records)
        self._waiting.committed(high_watermark)

    # Tasks that take longer

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _flush(self, end_offset: int) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._fsync, self._log.flush)
        except Exception as error:
            self._fail(error)
        else:
            self._input(lambda core, now: core.flushed(end_offset, now))

    async def _write_snapshot(self, point: EpochEnd, values: Iterator[bytes], voters: VoterSet | None) -> None:
        log.info("began to write the snapshot at %d", point.end_offset)
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._snapshots.write, point, values, voters)
            if self._core is None:
                return
            self._log.begin_segment()
        except Exception as error:
            self._fail(error)
        else:
            log.info("wrote the snapshot at %d", point.end_offset)
            self._input(lambda core, now: core.snapshot_written(point, now))
        finally:
            self._writing = False

    async def _ask(self, node_id: int, correlation: int, request: RaftRequest) -> None:
        try:
            response = await self._peers.peer(node_id).ask(request, self.address_of(self._node_id))
        except (ConnectionError, TimeoutError, Malformed):
            self._input(lambda core, now: core.failed(node_id, correlation, now))
        else:
            self._input(lambda core, now: core.answered(node_id, correlation, response, now))

    async def _notify(self, node_id: int, request: RaftRequest) -> None:
        with contextlib.suppress(ConnectionError):
            await self._peers.peer(node_id).notify(request)
