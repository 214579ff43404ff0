"""A voter of the metadata quorum: the core with its log, its files, its peers and its callers.

The effects of the core are performed at once and in order. Only the fsync of the log, in a thread, and requests to
peers take longer. All records that are appended during one fsync share the next.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random

from fencepost.cluster_impl.config.quorum import QuorumConfig
from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.core import NotLeader, RaftCore
from fencepost.cluster_impl.designs.quorum.raft.driver import CoreDriver
from fencepost.cluster_impl.designs.quorum.raft.listener import RaftListener
from fencepost.cluster_impl.designs.quorum.raft.messages import Request as RaftRequest
from fencepost.cluster_impl.designs.quorum.raft.metadata_log import MetadataLog
from fencepost.cluster_impl.designs.quorum.raft.metadata_topic import PARTITION, TOPIC
from fencepost.cluster_impl.designs.quorum.raft.peer import PeerBook
from fencepost.cluster_impl.designs.quorum.raft.quorum_state_file import QuorumStateFile
from fencepost.cluster_impl.designs.quorum.raft.requests import PendingRequest, RaftRequests
from fencepost.cluster_impl.designs.quorum.raft.roles import VoterSettings
from fencepost.cluster_impl.designs.quorum.raft.snapshot_files import SnapshotFiles
from fencepost.cluster_impl.designs.quorum.raft.snapshots import NodeSnapshots
from fencepost.cluster_impl.designs.quorum.raft.state import QuorumState, VoterRole
from fencepost.cluster_impl.designs.quorum.raft.voters import Address, VoterHistory, VoterSet
from fencepost.cluster_impl.designs.quorum.raft.waiting import LostLeadership, WaitingCallers
from fencepost.cluster_impl.storage.directory import LogDir
from fencepost.cluster_impl.wire.client import Connect
from fencepost.cluster_impl.wire.codec import Malformed

log = logging.getLogger(__name__)

NO_NODE = -1
"""The leader id if there is no leader."""


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
        self._waiting = WaitingCallers(node_id)
        self._driver = CoreDriver(node_id, self._perform, self._waiting.give_up)
        self.handlers = RaftRequests(self._driver, self._learned.update).handlers
        self._log: MetadataLog
        self._snapshots: NodeSnapshots
        self._state_file = QuorumStateFile(self._folder, config.cluster_id, tuple(sorted(config.voter_ids)))
        self._vote: tuple[int, int | None] = (0, None)
        self._fsync = ThreadPoolExecutor(max_workers=1, thread_name_prefix="raft-fsync")

    async def start(self, listener: RaftListener) -> None:
        """Load the newest good snapshot, open the log, join the quorum and notify `listener` from now on.

        Raises OSError, CorruptQuorumState, LogGap, and what `on_snapshot` raises.
        """
        self._listener = listener
        self._folder.mkdir(parents=True, exist_ok=True)
        files = SnapshotFiles(self._folder)
        found = files.find()
        self._log = MetadataLog(self._folder, found.snapshots)
        recovered = self._log.recovered
        try:
            state = self._state_file.read(log_is_empty=recovered.shape.end_offset == 0)
            self._snapshots = NodeSnapshots(files, found, self._log, listener, self._driver)
        except BaseException:
            self._log.close()
            raise
        self._vote = (state.epoch, state.voted_id)
        # A controller that its own file does not name joins a quorum that exists, without a vote at first.
        configured = self._config.voter_addresses if self._node_id in self._config.voter_ids else {}
        first = found.voters or VoterSet.of(configured)
        start = found.snapshots[-1].end_offset if found.snapshots else recovered.shape.start.end_offset
        voters = VoterHistory(first, self._log.voter_changes(start))
        settings = VoterSettings(
            self._node_id,
            frozenset(configured),
            self._config.cluster_id,
            self._config.election_timeout,
            self._config.fetch_timeout,
            self._config.fetch_max_wait,
            frozenset(self._configured),
        )
        core = RaftCore(settings, state, recovered.shape, Random(), time.monotonic(), recovered.snapshots, voters)
        self._driver.start(core)
        self._changed_voters(voters.latest)
        if core.leader_id is not None:
            self._listener.on_leader(core.leader_id, core.epoch)
        self._driver.input(RaftCore.tick)

    async def failed(self) -> None:
        """Wait for ever, or raise the failure that ended this node: a failing disk, or committed records at risk."""
        await self._driver.failed()

    async def close(self) -> None:
        """Resign and stop. Does nothing before `start`."""
        if not self._driver.started:
            return
        await self._driver.close()
        self._peers.close()
        self._fsync.shutdown()
        self._log.close()

    @property
    def epoch(self) -> int:
        """The newest epoch that this node knows. Raises NotLeader if it does not run."""
        return self._driver.running.epoch

    @property
    def leader_id(self) -> int | None:
        """The leader of `epoch` as this node knows it, or None, also if this node does not run."""
        return None if self._driver.core is None else self._driver.core.leader_id

    @property
    def last_stable_offset(self) -> int:
        """All records below this offset are committed."""
        return self._driver.running.log.high_watermark

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self._driver.running.log.end_offset

    def append(self, records: Sequence[bytes], epoch: int) -> int:
        """Append one atomic batch as the leader of `epoch`; return the offset of its last record. Raises NotLeader."""
        self._driver.input(RaftCore.tick)
        self._check_leads(epoch)
        self._driver.input(lambda core, now: core.append(records, now))
        return self._driver.running.log.end_offset - 1

    @property
    def voters(self) -> VoterSet:
        """The set of voters that holds now. Raises NotLeader if this node does not run."""
        return self._driver.running.voters.latest

    def address_of(self, node_id: int) -> Address | None:
        """Return host and port of a controller; None if this node knows none."""
        named = {} if self._driver.core is None else self._driver.core.voters.latest.addresses
        return named.get(node_id) or self._learned.get(node_id) or self._configured.get(node_id)

    def change_voters(self, voters: VoterSet) -> tuple[int, int]:
        """Append a set of voters, which holds at once; return its offset and the epoch of this leadership.

        Raises NotLeader, VoterChangeRefused.
        """
        self._driver.input(RaftCore.tick)
        self._check_leads()
        self._driver.input(lambda core, now: core.change_voters(voters, now))
        return self._driver.running.voters.last_offset, self._driver.running.epoch

    def caught_up(self, node_id: int, end_offset: int) -> bool:
        """Return whether a controller without a vote has all records below `end_offset`. Raises NotLeader."""
        self._driver.input(RaftCore.tick)
        self._check_leads()
        return self._driver.running.caught_up(node_id, end_offset, time.monotonic())

    async def committed(self, offset: int, epoch: int) -> None:
        """Return once `offset` is committed in the leadership of `epoch`. Raises LostLeadership."""
        self._check_still_leads(epoch)
        if offset >= self.last_stable_offset:
            await self._waiting.for_commit(offset)

    async def confirm_leadership(self) -> None:
        """Return once a majority has confirmed the epoch in a round that began after this call.

        Raises LostLeadership.
        """
        self._driver.input(RaftCore.tick)
        self._check_still_leads()
        done = self._waiting.for_confirmation()
        self._driver.input(lambda core, now: core.confirm(done, now))
        await done

    @property
    def snapshot_offset(self) -> int:
        """The end of the newest snapshot of this node, 0 without one."""
        core = self._driver.core
        return 0 if core is None or not core.log.snapshots else core.log.snapshots[-1].end_offset

    def start_snapshot(self) -> None:
        """Begin to write a snapshot of the committed records, unless one is being written or would say nothing new."""
        if self._driver.core is not None:
            self._snapshots.start_writing()

    def _check_leads(self, epoch: int | None = None) -> None:
        """Raise NotLeader unless this node leads `epoch`, or the present epoch if None."""
        core = self._driver.running
        if core.role is not VoterRole.LEADER or epoch not in (None, core.epoch):
            raise NotLeader(
                f"controller {core.node_id} is {core.role.value} in epoch {core.epoch}, not leader of {epoch}"
            )

    def _check_still_leads(self, epoch: int | None = None) -> None:
        try:
            self._check_leads(epoch)
        except NotLeader as error:
            raise LostLeadership(str(error)) from error

    # Effects

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
                self._driver.spawn(self._flush(end_offset))
            case fx.Send(peer, correlation, request):
                self._driver.spawn(self._ask(peer, correlation, request))
            case fx.Notify(peer, request):
                self._driver.spawn(self._notify(peer, request))
            case fx.Reply(PendingRequest() as pending, response):
                pending.respond(response, voters=self._named_voters())
            case fx.ReplyWithRecords(PendingRequest() as pending, response, start, limit):
                pending.respond(response, self._log.read(start.end_offset, limit), self._named_voters())
            case fx.ReplyWithSnapshot(PendingRequest() as pending, request, response):
                pending.respond(self._snapshots.part(request, response))
            case fx.StoreSnapshotPart(snapshot, position, data):
                self._snapshots.files.store_part(snapshot, position, data)
            case fx.InstallSnapshot(snapshot):
                self._snapshots.install(snapshot)
            case fx.CutLog(snapshots):
                self._snapshots.cut_log(snapshots)
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
        return self._driver.running.voters.latest.addresses or self._config.voter_addresses

    def _changed_voters(self, voters: VoterSet) -> None:
        if self._node_id not in voters.ids:
            log.info("this controller has no vote; the voters are %s", sorted(voters.ids) or "not known yet")
        elif self._driver.core is not None and self._driver.core.voters.last_offset >= 0:
            log.info("the voters are %s", sorted(voters.ids))
        self._listener.on_voters(voters.ids)

    def _persist(self, state: QuorumState) -> None:
        self._state_file.write(state)
        vote = (state.epoch, state.voted_id)
        if state.voted_id is not None and vote != self._vote:
            log.info("epoch %d: this controller votes for %d", *vote)
        self._vote = vote

    def _deliver(self, high_watermark: int) -> None:
        for records in self._log.committed_records(high_watermark):
            self._listener.on_commit(records)
        self._waiting.committed(high_watermark)

    # Tasks that take longer

    async def _flush(self, end_offset: int) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._fsync, self._log.flush)
        except Exception as error:
            self._driver.fail(error)
        else:
            self._driver.input(lambda core, now: core.flushed(end_offset, now))

    async def _ask(self, node_id: int, correlation: int, request: RaftRequest) -> None:
        try:
            response = await self._peers.peer(node_id).ask(request, self.address_of(self._node_id))
        except (ConnectionError, TimeoutError, Malformed):
            self._driver.input(lambda core, now: core.failed(node_id, correlation, now))
        else:
            self._driver.input(lambda core, now: core.answered(node_id, correlation, response, now))

    async def _notify(self, node_id: int, request: RaftRequest) -> None:
        with contextlib.suppress(ConnectionError):
            await self._peers.peer(node_id).notify(request)
