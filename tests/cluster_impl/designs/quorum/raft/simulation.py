"""A quorum of cores in simulated time: disks lose what was not fsynced, the network may lose everything else.

A `SimulatedQuorum` is determined by its seed. Requests of an earlier life of a node may still arrive; responses reach
only the life that sent the request.
"""

import heapq
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random

from fencepost.cluster_impl.designs.quorum.raft import effects as fx
from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore, VoterChangeRefused
from fencepost.cluster_impl.designs.quorum.raft.messages import (
    OBSERVER,
    EpochEnd,
    FetchRequest,
    FetchResponse,
    FetchSnapshotResponse,
    RaftBatch,
    Request,
    Response,
    VoteRequest,
    VoteResponse,
)
from fencepost.cluster_impl.designs.quorum.raft.roles import VoterSettings
from fencepost.cluster_impl.designs.quorum.raft.state import VoterRole
from fencepost.cluster_impl.designs.quorum.raft.voters import VoterHistory, VoterSet
from tests.cluster_impl.designs.quorum.raft.oracle import Entry, GuaranteeBroken, Oracle, voters_of
from tests.cluster_impl.designs.quorum.raft.simulated_disk import Disk, SimulatedSnapshot

ELECTION_TIMEOUT = 0.5
FETCH_TIMEOUT = 1.0
REQUEST_TIMEOUT = 0.5
FETCH_MAX_WAIT = 0.25
HEALED_WITHIN = 12.0
"""Simulated seconds in which a healed quorum must have a leader and commit on every voter."""

Input = Callable[[float], list[fx.Effect]]


@dataclass(slots=True)
class NetworkConditions:
    """The faults of the network between the cuts, as probabilities; delays in seconds."""

    loss: float = 0.0
    duplicates: float = 0.0
    slow: float = 0.0
    delay: float = 0.005
    slow_delay: float = 0.6


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request at its receiver, with the function that returns its response."""

    request: Request
    answer: Callable[[Response], None]


@dataclass(slots=True, eq=False)
class NodeLife:
    """A node from one start to the next crash. `log` has all batches, also those that only a snapshot holds."""

    node: int
    core: RaftCore
    log: list[Entry]
    committed: int = 0
    fetched: bytearray = field(default_factory=bytearray)
    alive: bool = True
    paused_until: float = 0.0
    tick_at: float = 0.0


class SimulatedQuorum:
    def __init__(self, seed: int, voters: int = 3, core: type[RaftCore] = RaftCore, spares: int = 0) -> None:
        """`spares` are controllers without a vote, which may become voters."""
        self.random = Random(seed)
        self.now = 0.0
        self.conditions = NetworkConditions()
        self.fetch_batches = 3
        self.nodes = tuple(range(1, voters + spares + 1))
        self.first_voters = frozenset(self.nodes[:voters])
        self.oracle = Oracle(self.first_voters)
        self.cut: set[tuple[int, int]] = set()
        self.disks = {node: Disk() for node in self.nodes}
        self.lives: dict[int, NodeLife] = {}
        self.confirmations = self.installed = self.damaged = 0
        self._core = core
        self._values = count(1)
        self._order = count()
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        for node in self.nodes:
            self.start(node)

    # Time

    def after(self, delay: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (self.now + delay, next(self._order), action))

    def run_until(self, end: float, condition: Callable[[], bool] = lambda: False) -> bool:
        """Let time pass until the condition holds; False if it did not hold by `end`."""
        while self._queue and self._queue[0][0] <= end:
            self.now, _, action = heapq.heappop(self._queue)
            action()
            if condition():
                return True
        self.now = end
        return condition()

    # Nodes

    def start(self, node: int) -> None:
        """Start a node that does not run."""
        if node in self.lives and self.lives[node].alive:
            return
        disk = self.disks[node]
        found, history = disk.read()
        settings = VoterSettings(
            node,
            self.first_voters,
            "cluster",
            ELECTION_TIMEOUT,
            FETCH_TIMEOUT,
            fetch_max_wait=FETCH_MAX_WAIT,
            contacts=frozenset(self.nodes),
        )
        changes = [(entry.base_offset, _set(entry.voters)) for entry in history if entry.voters is not None]
        core = self._core(
            settings,
            disk.state,
            found.shape,
            Random(self.random.random()),
            self.now,
            found.snapshots,
            VoterHistory(_set(self.first_voters), changes),
        )
        committed = len(disk.snapshots[-1].entries) if disk.snapshots else 0
        self.lives[node] = NodeLife(node, core, history, committed)
        self._input(self.lives[node], core.tick)

    def crash(self, node: int) -> None:
        life, disk = self.lives[node], self.disks[node]
        life.alive = False
        disk.settle(self.random.randint(0, len(disk.pending)))
        disk.pending.clear()

    def damage(self, node: int) -> None:
        """Damage the newest snapshot of a node that does not run, if there is one before it."""
        snapshots = self.disks[node].snapshots
        if not self.lives[node].alive and len(snapshots) > 1:
            snapshots[-1].good = False
            self.damaged += 1

    def snapshot(self, life: NodeLife, seconds: float) -> None:
        """Have a node make a snapshot, which takes some time."""
        if not life.alive:
            return
        point, entries = life.core.snapshot_point(), tuple(life.log[: life.committed])
        if (entries[-1].next_offset if entries else 0) != point.end_offset:
            raise GuaranteeBroken(f"snapshots: {life.node} begins one at {point}, which is not its committed state")
        known = self.disks[life.node].snapshots
        if not entries or (known and known[-1].id.end_offset >= point.end_offset):
            return
        self.after(seconds, lambda: self._written(life, SimulatedSnapshot(point, entries)))

    def _written(self, life: NodeLife, snapshot: SimulatedSnapshot) -> None:
        snapshots = self.disks[life.node].snapshots
        if life.alive and (not snapshots or snapshots[-1].id.end_offset < snapshot.id.end_offset):
            snapshots.append(snapshot)
            self._input(life, lambda now: life.core.snapshot_written(snapshot.id, now))

    def pause(self, node: int, seconds: float) -> None:
        self.lives[node].paused_until = self.now + seconds

    def leader(self) -> NodeLife | None:
        """Return the node that leads the newest epoch, or None."""
        leading = [life for life in self.lives.values() if life.alive and life.core.role is VoterRole.LEADER]
        return max(leading, key=lambda life: life.core.epoch, default=None)

    def append(self, life: NodeLife) -> None:
        """Deliver a client's records to a node."""
        records = [str(next(self._values)).encode()] * self.random.randint(1, 3)
        self._input(life, life.core.tick)
        self._input(life, lambda now: life.core.append(records, now) if life.core.role is VoterRole.LEADER else [])

    def confirm(self, life: NodeLife) -> None:
        """Request a confirmation of its leadership from a node."""
        asked = self.oracle.moment
        self._input(life, life.core.tick)
        self._input(life, lambda now: life.core.confirm(asked, now) if life.core.role is VoterRole.LEADER else [])

    def change_voters(self, life: NodeLife) -> None:
        """Ask a node to add a voter that has caught up, or one that has not, or to remove one, also itself."""
        voters = voters_of(life.log, self.first_voters)
        node = self.random.choice(self.nodes)
        asked = voters ^ {node}

        def change(now: float) -> list[fx.Effect]:
            if life.core.role is not VoterRole.LEADER:
                return []
            try:
                return life.core.change_voters(_set(asked), now)
            except VoterChangeRefused:
                return []

        if len(asked) > 1:
            self._input(life, life.core.tick)
            self._input(life, change)

    def observe(self, life: NodeLife) -> None:
        """Fetch from a node as an observer that has applied some committed records."""
        applied = self.random.randint(0, len(self.oracle.committed))
        last = self.oracle.committed[applied - 1] if applied else None
        end = EpochEnd(last.epoch, last.next_offset) if last else EpochEnd(0, 0)
        request = FetchRequest("cluster", life.core.epoch, OBSERVER, end, 0.1)
        if life.alive:
            self._input(life, lambda now: life.core.receive(request, SentRequest(request, lambda response: None), now))

    def committed_everywhere(self, value: int) -> bool:
        """Return True if every node runs and has committed the batch with this value."""
        return all(
            life.alive and any(entry.value == value for entry in life.log[: life.committed])
            for life in self.lives.values()
        )

    def heal(self) -> None:
        if len(self.nodes) > len(self.first_voters):
            self.fetch_batches = 30  # a node that missed the whole history catches up in time
        self.cut.clear()
        self.conditions = NetworkConditions()
        for node in self.nodes:
            self.lives[node].paused_until = self.now
            self.start(node)

    def recovers(self) -> bool:
        """Return True if the healed quorum elects a leader and commits a new batch everywhere in time."""
        deadline = self.now + HEALED_WITHIN
        while self.now < deadline:
            leader = self.leader()
            if leader is not None:
                self.append(leader)
                value = leader.log[-1].value
                if self.run_until(min(deadline, self.now + 2), lambda value=value: self.committed_everywhere(value)):  # type: ignore[misc]
                    return True
            else:
                self.run_until(min(deadline, self.now + 0.1))
        return False

    # The edge, simulated

    def _input(self, life: NodeLife, step: Input) -> None:
        """Give a node an input when it is awake, and perform its effects."""
        if not life.alive:
            return
        if life.paused_until > self.now:
            self.after(life.paused_until - self.now + self.random.random() * 0.001, lambda: self._input(life, step))
            return
        self.oracle.moment += 1
        for effect in step(self.now):
            self._perform(life, effect)
        if life.core.voters.latest.ids != voters_of(life.log, self.first_voters):
            raise GuaranteeBroken(f"voters follow the log: {life.node} counts by {sorted(life.core.voters.latest.ids)}")
        due = max(life.core.deadline(), self.now)
        if due != life.tick_at and due < float("inf"):
            life.tick_at = due
            self.after(due - self.now, lambda: self._tick(life, due))

    def _tick(self, life: NodeLife, due: float) -> None:
        if life.tick_at == due:
            life.tick_at = -1.0
            self._input(life, life.core.tick)

    def _perform(self, life: NodeLife, effect: fx.Effect) -> None:
        disk = self.disks[life.node]
        match effect:
            case fx.Persist(state):
                if state.epoch < disk.state.epoch:
                    raise GuaranteeBroken(f"epochs only grow: {life.node} went from {disk.state} to {state}")
                disk.state = state
            case fx.Append(batches):
                for batch in batches:
                    voters = None if batch.voters is None else batch.voters.ids
                    value = int(bytes(batch.data))
                    self._append(life, batch.base_offset, batch.next_offset, batch.epoch, value, voters)
            case fx.AppendRecords(base, epoch, records):
                self._append(life, base, base + len(records), epoch, int(records[0]))
            case fx.AppendLeaderChange(base, epoch):
                self.oracle.leads(life.node, epoch, life.log)
                self._append(life, base, base + 1, epoch, -epoch)
            case fx.AppendVoters(base, epoch, voters):
                self.oracle.changes_voters(life.node, epoch, life.log, voters.ids)
                self._append(life, base, base + 1, epoch, 0, voters.ids)
            case fx.Truncate(end_offset):
                life.log = [entry for entry in life.log if entry.next_offset <= end_offset]
                disk.pending.append(end_offset)
            case fx.Flush(end_offset):
                changes = len(disk.pending)
                self.after(self.random.random() * 0.02, lambda: self._flushed(life, end_offset, changes))
            case fx.Send(peer, correlation, request):
                self._send(life, peer, correlation, request)
            case fx.Notify(peer, request):
                self._transmit(life.node, peer, lambda: self._receive(peer, request, lambda _: None))
            case fx.Reply(SentRequest(request, answer), response):
                if isinstance(request, VoteRequest) and isinstance(response, VoteResponse) and response.granted:
                    self._note_vote(life.node, request)
                answer(response)
            case fx.ReplyWithRecords(SentRequest(FetchRequest() as request, answer), response, start, limit):
                answer(self._records(life, request, response, start, limit))
            case fx.ReplyWithSnapshot(SentRequest(_, answer), request, response):
                answer(self._snapshot_part(disk, request.snapshot, request.position, response))
            case fx.StoreSnapshotPart(_, position, data):
                life.fetched[position:] = data
            case fx.InstallSnapshot(snapshot):
                self._install(life, SimulatedSnapshot(snapshot, pickle.loads(life.fetched)))
            case fx.CutLog(snapshots):
                disk.keep(snapshots)
            case fx.HighWatermarkAdvance(high_watermark):
                self._commit(life, high_watermark)
            case fx.LeadershipConfirmation(tokens):
                self.confirmations += len(tokens)
                for asked in tokens:
                    assert isinstance(asked, int)
                    self.oracle.confirmed(life.node, life.core.epoch, asked)

    def _snapshot_part(
        self, disk: Disk, snapshot: EpochEnd, position: int, response: FetchSnapshotResponse
    ) -> FetchSnapshotResponse:
        (content,) = (known.content() for known in disk.snapshots if known.id == snapshot)
        part = content[position : position + self.random.randint(1, len(content))]
        return replace(response, size=len(content), position=position, data=part)

    def _install(self, life: NodeLife, snapshot: SimulatedSnapshot) -> None:
        last = len(snapshot.entries) - 1
        if last >= len(self.oracle.committed):
            raise GuaranteeBroken(f"snapshots: {life.node} gets one of uncommitted batches")
        self.oracle.committed_at(life.node, last, snapshot.entries[-1])
        life.log, life.committed = list(snapshot.entries), len(snapshot.entries)
        self.disks[life.node].install(snapshot)
        self.installed += 1
        voters = _set(voters_of(snapshot.entries, self.first_voters))
        self._input(life, lambda now: life.core.snapshot_installed(snapshot.id, now, voters))

    def _append(
        self,
        life: NodeLife,
        base: int,
        following: int,
        epoch: int,
        value: int,
        voters: frozenset[int] | None = None,
    ) -> None:
        before = life.log[-1] if life.log else None
        if base != (before.next_offset if before else 0):
            raise GuaranteeBroken(f"no holes: {life.node} appends at {base} after {before}")
        chain = hash((before.chain if before else 0, base, following, epoch, value, voters))
        entry = Entry(base, following, epoch, value, chain, voters)
        self.oracle.appended(life.node, entry)
        life.log.append(entry)
        self.disks[life.node].pending.append(entry)

    def _flushed(self, life: NodeLife, end_offset: int, changes: int) -> None:
        if life.alive:
            self.disks[life.node].settle(changes)
            self._input(life, lambda now: life.core.flushed(end_offset, now))

    def _commit(self, life: NodeLife, high_watermark: int) -> None:
        while life.committed < len(life.log) and life.log[life.committed].next_offset <= high_watermark:
            entry = life.log[life.committed]
            self.oracle.committed_at(life.node, life.committed, entry)
            if life.core.role is VoterRole.LEADER:
                holders = [node for node, disk in self.disks.items() if disk.holds(entry, life.committed)]
                self.oracle.durable(entry, life.log, holders)
            life.committed += 1

    def _records(
        self, life: NodeLife, request: FetchRequest, response: FetchResponse, start: EpochEnd, limit: int
    ) -> FetchResponse:
        if start.end_offset < self.disks[life.node].start:
            raise GuaranteeBroken(f"snapshots: {life.node} is to send records from {start}, which are cut")
        found = [entry for entry in life.log if start.end_offset <= entry.base_offset and entry.next_offset <= limit]
        found = found[: self.random.randint(1, self.fetch_batches)]
        if request.replica_id == OBSERVER and found:
            self.oracle.observed(found[-1].next_offset)
        batches = [
            RaftBatch(
                e.base_offset,
                e.next_offset,
                e.epoch,
                str(e.value).encode(),
                None if e.voters is None else _set(e.voters),
            )
            for e in found
        ]
        return FetchResponse(
            response.error, response.epoch, response.leader_id, response.high_watermark, None, tuple(batches)
        )

    def _note_vote(self, voter: int, request: VoteRequest) -> None:
        if not request.pre_vote:
            self.oracle.voted(voter, request.epoch, request.candidate_id)

    def _send(self, life: NodeLife, peer: int, correlation: int, request: Request) -> None:
        if isinstance(request, VoteRequest):
            if not request.pre_vote:
                self.oracle.stands(life.node, request.epoch, life.log)
            self._note_vote(life.node, request)

        def back(response: Response) -> None:
            self._transmit(
                peer,
                life.node,
                lambda: self._input(life, lambda now: life.core.answered(peer, correlation, response, now)),
            )

        self._transmit(life.node, peer, lambda: self._receive(peer, request, back))
        self.after(REQUEST_TIMEOUT, lambda: self._input(life, lambda now: life.core.failed(peer, correlation, now)))

    def _receive(self, node: int, request: Request, back: Callable[[Response], None]) -> None:
        life = self.lives[node]
        self._input(life, lambda now: life.core.receive(request, SentRequest(request, back), now))

    def _transmit(self, source: int, target: int, deliver: Callable[[], None]) -> None:
        conditions, random = self.conditions, self.random
        if (source, target) in self.cut or random.random() < conditions.loss:
            return
        for _ in range(2 if random.random() < conditions.duplicates else 1):
            worst = conditions.slow_delay if random.random() < conditions.slow else conditions.delay
            self.after(0.0005 + random.random() * worst, deliver)


def _set(ids: Iterable[int]) -> VoterSet:
    return VoterSet(tuple((node, "", 0) for node in sorted(ids)))


class RandomFaults:
    """Random faults and a random workload until `until`. Each seed has its own mixture of them."""

    FAULTS = ("crash", "isolate", "one-way", "pair", "pause")

    def __init__(self, quorum: SimulatedQuorum, until: float, *, snapshots: bool, changes: bool = False) -> None:
        self.snapshots = snapshots
        self.quorum = quorum
        self.until = until
        draw = quorum.random
        quorum.conditions = NetworkConditions(
            draw.random() * 0.1, draw.random() * 0.1, draw.random() * 0.1, draw.choice((0.02, 0.05))
        )
        quorum.fetch_batches = draw.choice((1, 3))
        self._weights = [draw.random() for _ in self.FAULTS]
        self._at_leader = 0.3 + 0.7 * draw.random()
        self._repeat(draw.choice((0.01, 0.03)), self._work)
        self._repeat(draw.choice((0.15, 0.3, 0.6)), self._break)
        if snapshots:
            self._repeat(draw.choice((0.1, 0.3)), self._snapshot)
        if changes:
            self._repeat(draw.choice((0.05, 0.2, 0.6)), self._change)

    def _repeat(self, interval: float, action: Callable[[], None]) -> None:
        def again() -> None:
            if self.quorum.now < self.until:
                action()
                self.quorum.after(self.quorum.random.expovariate(1 / interval), again)

        self.quorum.after(self.quorum.random.expovariate(1 / interval), again)

    def _work(self) -> None:
        quorum = self.quorum
        lives = list(quorum.lives.values())
        leading = [life for life in lives if life.core.role is VoterRole.LEADER]
        life = quorum.random.choice(leading or lives)
        quorum.random.choice((quorum.append, quorum.append, quorum.confirm, quorum.observe))(life)

    def _change(self) -> None:
        lives = list(self.quorum.lives.values())
        leading = [life for life in lives if life.core.role is VoterRole.LEADER]
        self.quorum.change_voters(self.quorum.random.choice(leading or lives))

    def _snapshot(self) -> None:
        random = self.quorum.random
        self.quorum.snapshot(random.choice(list(self.quorum.lives.values())), random.random() * 0.3)

    def _break(self) -> None:
        quorum, random = self.quorum, self.quorum.random
        node = random.choice(quorum.nodes)
        leader = quorum.leader()
        if leader is not None and random.random() < self._at_leader:
            node = leader.node
        match random.choices(self.FAULTS, self._weights)[0]:
            case "crash":
                if quorum.lives[node].alive:
                    quorum.crash(node)
                    if self.snapshots and random.random() < 0.3:
                        quorum.damage(node)
                    quorum.after(random.random() * 1.5, lambda: quorum.start(node))
            case "isolate":
                self._cut({pair for other in quorum.nodes for pair in ((node, other), (other, node))})
            case "one-way":
                self._cut({random.choice(((node, other), (other, node))) for other in quorum.nodes})
            case "pair":
                other = random.choice(quorum.nodes)
                self._cut({(node, other), (other, node)})
            case "pause":
                quorum.pause(node, random.random() * 3)

    def _cut(self, pairs: set[tuple[int, int]]) -> None:
        self.quorum.cut |= pairs
        self.quorum.after(self.quorum.random.random() * 3, lambda: self.quorum.cut.difference_update(pairs))


def random_history(
    seed: int, core: type[RaftCore] = RaftCore, seconds: float = 12.0, *, changes: bool = False
) -> SimulatedQuorum:
    """Run a random history, then heal the quorum. Raises GuaranteeBroken; the seed determines the history.

    Odd seeds have snapshots. With `changes` voters are added and removed, out of two more nodes.
    """
    quorum = SimulatedQuorum(seed, voters=5 if seed % 4 == 0 else 3, core=core, spares=2 if changes else 0)
    try:
        RandomFaults(quorum, until=seconds, snapshots=seed % 2 == 1, changes=changes)
        quorum.run_until(seconds)
        quorum.heal()
        if not quorum.recovers():
            raise GuaranteeBroken(f"progress: no commit everywhere within {HEALED_WITHIN} s of healing")
    except GuaranteeBroken as error:
        raise GuaranteeBroken(f"seed {seed}, at {quorum.now:.3f} s: {error}") from error
    return quorum
