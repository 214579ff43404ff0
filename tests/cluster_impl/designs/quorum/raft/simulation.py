"""A quorum of cores in simulated time: their disks lose what was not fsynced, their network loses everything else too.

A `World` is named by its seed. Requests of a dead life may still arrive; answers reach only the life that asked.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random

from cluster_impl.designs.quorum.raft import effects as fx
from cluster_impl.designs.quorum.raft.core import RaftCore
from cluster_impl.designs.quorum.raft.log_shape import LogShape
from cluster_impl.designs.quorum.raft.messages import (
    OBSERVER,
    Batch,
    EpochEnd,
    FetchRequest,
    FetchResponse,
    Request,
    Response,
    VoteRequest,
    VoteResponse,
)
from cluster_impl.designs.quorum.raft.roles import Settings
from cluster_impl.designs.quorum.raft.state import QuorumState, Role
from tests.cluster_impl.designs.quorum.raft.oracle import Entry, GuaranteeBroken, Oracle

ELECTION_TIMEOUT = 0.5
FETCH_TIMEOUT = 1.0
REQUEST_TIMEOUT = 0.5
FETCH_MAX_WAIT = 0.25
HEALED_WITHIN = 12.0
"""Simulated seconds in which a healed quorum must have a leader and commit on every voter."""

Input = Callable[[float], list[fx.Effect]]


@dataclass(slots=True)
class Weather:
    """How bad the network is between the cuts, as probabilities; delays in seconds."""

    loss: float = 0.0
    duplicates: float = 0.0
    slow: float = 0.0
    delay: float = 0.005
    slow_delay: float = 0.6


@dataclass(slots=True)
class Disk:
    """`safe` outlives a crash; of `pending` changes, in order, any number from the first may have made it."""

    state: QuorumState = field(default_factory=QuorumState)
    safe: list[Entry] = field(default_factory=list)
    pending: list[int | Entry] = field(default_factory=list)

    def settle(self, changes: int) -> None:
        for change in self.pending[:changes]:
            if isinstance(change, Entry):
                self.safe.append(change)
            else:
                self.safe = [entry for entry in self.safe if entry.next_offset <= change]
        del self.pending[:changes]


@dataclass(frozen=True, slots=True)
class Question:
    """A request at its receiver, and the way back."""

    request: Request
    answer: Callable[[Response], None]


@dataclass(slots=True, eq=False)
class Life:
    """A node from one start to the next crash."""

    node: int
    core: RaftCore
    log: list[Entry]
    committed: int = 0
    alive: bool = True
    paused_until: float = 0.0
    tick_at: float = 0.0


class World:
    def __init__(self, seed: int, voters: int = 3, core: type[RaftCore] = RaftCore) -> None:
        self.random = Random(seed)
        self.now = 0.0
        self.weather = Weather()
        self.fetch_batches = 3
        self.nodes = tuple(range(1, voters + 1))
        self.oracle = Oracle(voters)
        self.cut: set[tuple[int, int]] = set()
        self.disks = {node: Disk() for node in self.nodes}
        self.lives: dict[int, Life] = {}
        self.confirmations = 0
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
        shape = LogShape()
        for entry in disk.safe:
            shape.append(entry.epoch, entry.next_offset)
        settings = Settings(
            node, frozenset(self.nodes), "cluster", ELECTION_TIMEOUT, FETCH_TIMEOUT, fetch_max_wait=FETCH_MAX_WAIT
        )
        core = self._core(settings, disk.state, shape, Random(self.random.random()), self.now)
        self.lives[node] = Life(node, core, list(disk.safe))
        self._input(self.lives[node], core.tick)

    def crash(self, node: int) -> None:
        life, disk = self.lives[node], self.disks[node]
        life.alive = False
        disk.settle(self.random.randint(0, len(disk.pending)))
        disk.pending.clear()

    def pause(self, node: int, seconds: float) -> None:
        self.lives[node].paused_until = self.now + seconds

    def leader(self) -> Life | None:
        """The node that leads the newest epoch, if one does."""
        leading = [life for life in self.lives.values() if life.alive and life.core.role is Role.LEADER]
        return max(leading, key=lambda life: life.core.epoch, default=None)

    def append(self, life: Life) -> None:
        """A client's records arrive at a node."""
        records = [str(next(self._values)).encode()] * self.random.randint(1, 3)
        self._input(life, life.core.tick)
        self._input(life, lambda now: life.core.append(records, now) if life.core.role is Role.LEADER else [])

    def confirm(self, life: Life) -> None:
        """Something at a node needs to know that it leads still."""
        asked = self.oracle.moment
        self._input(life, life.core.tick)
        self._input(life, lambda now: life.core.confirm(asked, now) if life.core.role is Role.LEADER else [])

    def observe(self, life: Life) -> None:
        """An observer that has applied some of what is committed fetches from a node."""
        applied = self.random.randint(0, len(self.oracle.committed))
        last = self.oracle.committed[applied - 1] if applied else None
        end = EpochEnd(last.epoch, last.next_offset) if last else EpochEnd(0, 0)
        request = FetchRequest("cluster", life.core.epoch, OBSERVER, end, 0.1)
        if life.alive:
            self._input(life, lambda now: life.core.receive(request, Question(request, lambda response: None), now))

    def committed_everywhere(self, value: int) -> bool:
        """Whether every node runs and has committed the batch with this value."""
        return all(
            life.alive and any(entry.value == value for entry in life.log[: life.committed])
            for life in self.lives.values()
        )

    def heal(self) -> None:
        self.cut.clear()
        self.weather = Weather()
        for node in self.nodes:
            self.lives[node].paused_until = self.now
            self.start(node)

    def recovers(self) -> bool:
        """Whether the healed quorum elects a leader and commits a new batch everywhere in time."""
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

    def _input(self, life: Life, step: Input) -> None:
        """Give a node an input, when it is awake, and do what it decides."""
        if not life.alive:
            return
        if life.paused_until > self.now:
            self.after(life.paused_until - self.now + self.random.random() * 0.001, lambda: self._input(life, step))
            return
        self.oracle.moment += 1
        for effect in step(self.now):
            self._perform(life, effect)
        due = max(life.core.deadline(), self.now)
        if due != life.tick_at and due < float("inf"):
            life.tick_at = due
            self.after(due - self.now, lambda: self._tick(life, due))

    def _tick(self, life: Life, due: float) -> None:
        if life.tick_at == due:
            life.tick_at = -1.0
            self._input(life, life.core.tick)

    def _perform(self, life: Life, effect: fx.Effect) -> None:
        disk = self.disks[life.node]
        match effect:
            case fx.Persist(state):
                if state.epoch < disk.state.epoch:
                    raise GuaranteeBroken(f"epochs only grow: {life.node} went from {disk.state} to {state}")
                disk.state = state
            case fx.Append(batches):
                for batch in batches:
                    self._append(life, batch.base_offset, batch.next_offset, batch.epoch, int(bytes(batch.data)))
            case fx.AppendRecords(base, epoch, records):
                self._append(life, base, base + len(records), epoch, int(records[0]))
            case fx.AppendLeaderChange(base, epoch):
                self.oracle.leads(life.node, epoch, life.log)
                self._append(life, base, base + 1, epoch, -epoch)
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
            case fx.Reply(Question(request, answer), response):
                if isinstance(request, VoteRequest) and isinstance(response, VoteResponse) and response.granted:
                    self._note_vote(life.node, request)
                answer(response)
            case fx.ReplyWithRecords(Question(FetchRequest() as request, answer), response, start, limit):
                answer(self._records(life, request, response, start, limit))
            case fx.Committed(high_watermark):
                self._commit(life, high_watermark)
            case fx.Confirmed(tokens):
                self.confirmations += len(tokens)
                for asked in tokens:
                    assert isinstance(asked, int)
                    self.oracle.confirmed(life.node, life.core.epoch, asked)

    def _append(self, life: Life, base: int, following: int, epoch: int, value: int) -> None:
        before = life.log[-1] if life.log else None
        if base != (before.next_offset if before else 0):
            raise GuaranteeBroken(f"no holes: {life.node} appends at {base} after {before}")
        chain = hash((before.chain if before else 0, base, following, epoch, value))
        entry = Entry(base, following, epoch, value, chain)
        self.oracle.appended(life.node, entry)
        life.log.append(entry)
        self.disks[life.node].pending.append(entry)

    def _flushed(self, life: Life, end_offset: int, changes: int) -> None:
        if life.alive:
            self.disks[life.node].settle(changes)
            self._input(life, lambda now: life.core.flushed(end_offset, now))

    def _commit(self, life: Life, high_watermark: int) -> None:
        while life.committed < len(life.log) and life.log[life.committed].next_offset <= high_watermark:
            entry = life.log[life.committed]
            self.oracle.committed_at(life.node, life.committed, entry)
            if life.core.role is Role.LEADER:
                self.oracle.durable(entry, life.committed, [disk.safe for disk in self.disks.values()])
            life.committed += 1

    def _records(
        self, life: Life, request: FetchRequest, response: FetchResponse, start: EpochEnd, limit: int
    ) -> FetchResponse:
        found = [entry for entry in life.log if start.end_offset <= entry.base_offset and entry.next_offset <= limit]
        found = found[: self.random.randint(1, self.fetch_batches)]
        if request.replica_id == OBSERVER and found:
            self.oracle.observed(found[-1].next_offset)
        batches = [Batch(e.base_offset, e.next_offset, e.epoch, str(e.value).encode()) for e in found]
        return FetchResponse(
            response.error, response.epoch, response.leader_id, response.high_watermark, None, tuple(batches)
        )

    def _note_vote(self, voter: int, request: VoteRequest) -> None:
        if not request.pre_vote:
            self.oracle.voted(voter, request.epoch, request.candidate_id)

    def _send(self, life: Life, peer: int, correlation: int, request: Request) -> None:
        if isinstance(request, VoteRequest):
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
        self._input(life, lambda now: life.core.receive(request, Question(request, back), now))

    def _transmit(self, source: int, target: int, deliver: Callable[[], None]) -> None:
        weather, random = self.weather, self.random
        if (source, target) in self.cut or random.random() < weather.loss:
            return
        for _ in range(2 if random.random() < weather.duplicates else 1):
            worst = weather.slow_delay if random.random() < weather.slow else weather.delay
            self.after(0.0005 + random.random() * worst, deliver)


class Chaos:
    """Random faults and a random workload, until told to stop. Each seed draws its own mixture of them."""

    FAULTS = ("crash", "isolate", "one-way", "pair", "pause")

    def __init__(self, world: World, until: float) -> None:
        self.world = world
        self.until = until
        draw = world.random
        world.weather = Weather(
            draw.random() * 0.1, draw.random() * 0.1, draw.random() * 0.1, draw.choice((0.02, 0.05))
        )
        world.fetch_batches = draw.choice((1, 3))
        self._weights = [draw.random() for _ in self.FAULTS]
        self._at_leader = 0.3 + 0.7 * draw.random()
        self._repeat(draw.choice((0.01, 0.03)), self._work)
        self._repeat(draw.choice((0.15, 0.3, 0.6)), self._break)

    def _repeat(self, interval: float, action: Callable[[], None]) -> None:
        def again() -> None:
            if self.world.now < self.until:
                action()
                self.world.after(self.world.random.expovariate(1 / interval), again)

        self.world.after(self.world.random.expovariate(1 / interval), again)

    def _work(self) -> None:
        world = self.world
        lives = list(world.lives.values())
        leading = [life for life in lives if life.core.role is Role.LEADER]
        life = world.random.choice(leading or lives)
        world.random.choice((world.append, world.append, world.confirm, world.observe))(life)

    def _break(self) -> None:
        world, random = self.world, self.world.random
        node = random.choice(world.nodes)
        leader = world.leader()
        if leader is not None and random.random() < self._at_leader:
            node = leader.node
        match random.choices(self.FAULTS, self._weights)[0]:
            case "crash":
                if world.lives[node].alive:
                    world.crash(node)
                    world.after(random.random() * 1.5, lambda: world.start(node))
            case "isolate":
                self._cut({pair for other in world.nodes for pair in ((node, other), (other, node))})
            case "one-way":
                self._cut({random.choice(((node, other), (other, node))) for other in world.nodes})
            case "pair":
                other = random.choice(world.nodes)
                self._cut({(node, other), (other, node)})
            case "pause":
                world.pause(node, random.random() * 3)

    def _cut(self, pairs: set[tuple[int, int]]) -> None:
        self.world.cut |= pairs
        self.world.after(self.world.random.random() * 3, lambda: self.world.cut.difference_update(pairs))


def storm(seed: int, core: type[RaftCore] = RaftCore, seconds: float = 12.0) -> World:
    """A random history of chaos, then healing. Raises what was broken; the seed says which history it was."""
    world = World(seed, voters=5 if seed % 4 == 0 else 3, core=core)
    try:
        Chaos(world, until=seconds)
        world.run_until(seconds)
        world.heal()
        if not world.recovers():
            raise GuaranteeBroken(f"progress: no commit everywhere within {HEALED_WITHIN} s of healing")
    except GuaranteeBroken as error:
        raise GuaranteeBroken(f"seed {seed}, at {world.now:.3f} s: {error}") from error
    return world
