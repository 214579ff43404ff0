"""Watches a cluster from outside, all the time: what each node says of itself, and what the controllers decided.

One thread for each node asks it about every 100 ms through the probe site's own link, which no fault breaks. One more
follows what the controllers decided: the metadata log at the leader of the highest epoch, or the tree of ZooKeeper.
What is new is journalled (`state`), and wakes those who wait for a condition.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from harness.clients.asking import SILENT_AFTER, Line, ask_metadata, ask_quorum
from harness.clients.changes import changes
from harness.clients.metadata.image import Image
from harness.clients.metadata.tail import NotLeader, Tail
from harness.clients.raw import NoAnswer, RawConnection, Unanswered
from harness.clients.views import (
    Answer,
    BrokerView,
    ControllerView,
    Observation,
    ServerView,
    active_controller,
)
from harness.clients.zookeeper.follower import Follower
from harness.clients.zookeeper.leaderless import WatchedTree
from harness.clients.zookeeper.reading import read_tree
from harness.clients.zookeeper.server import ask_server
from harness.clients.zookeeper.tree import Claim, Tree
from harness.errors import InfrastructureError
from harness.network.addresses import Endpoint
from harness.targets.target import Dialect
from results.records.journal import JournalWriter

EVERY = 0.1
"""Seconds between two questions to one node."""
IDLE = 0.02
"""Seconds of rest after an answer with nothing newly committed: a leader that cannot commit answers at once."""
RECHECK = 0.05
"""Seconds between two looks at conditions that are not about what is observed here (a process, a counter)."""


@dataclass(frozen=True)
class Watched:
    """A node as the observer needs it."""

    name: str
    id: int
    endpoint: Endpoint
    is_controller: bool
    is_zookeeper: bool = False
    is_duplicate: bool = False
    """Of a node with the same id, which is the one that others reach."""


def controllers_by_id(nodes: Iterable[Watched]) -> dict[int, str]:
    """Whom the id of a leader names: never a duplicate."""
    return {node.id: node.name for node in nodes if node.is_controller and not node.is_duplicate}


class Observer:
    """Entered it watches, left it has stopped. All methods may be called from any thread.

    Brokers are not asked about the topics in `unasked`: an answer about thousands would take longer than its turn.
    """

    def __init__(
        self,
        nodes: tuple[Watched, ...],
        dialect: Dialect,
        journal: JournalWriter,
        unasked: frozenset[str] = frozenset(),
    ) -> None:
        self._nodes = nodes
        self._dialect = dialect
        self._journal = journal
        self._unasked = unasked
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._now = Observation()
        self._version = 0
        self._failed: Exception | None = None
        self._ids = {node.name: node.id for node in nodes if not node.is_zookeeper}
        self._asked = dict.fromkeys(self._ids, 0.0)
        """When the last question began that each node answered or left unanswered; monotonic."""
        self._wanted: frozenset[str] = frozenset()
        self._listing = Listing()
        servers = [node.endpoint for node in nodes if node.is_zookeeper]
        read = read_tree if dialect.has_controllers else WatchedTree()
        self._follower = (
            Follower(servers, read, lambda: self._wanted, self._set_tree, self._no_news) if servers else None
        )
        self._threads = [threading.Thread(target=self._guard, args=(self._watch, node)) for node in nodes]
        self._threads.append(threading.Thread(target=self._guard, args=(self._follow,)))

    @property
    def now(self) -> Observation:
        return self._now

    def want(self, path: str) -> None:
        """Read this path of ZooKeeper's tree, too, from now on: `now.znodes` has it once it was read."""
        with self._changed:
            self._wanted |= {path}

    def wait(self, condition: Callable[[], bool], deadline: float, every: float = RECHECK) -> bool:
        """Until `condition` holds, looked at after each change, and at least `every` so many seconds; False once the
        monotonic `deadline` has passed.

        InfrastructureError if the watching itself has failed, for then nothing would ever come true.
        """
        while True:
            seen = self._version
            if condition():
                return True
            if self._failed is not None:
                raise InfrastructureError(f"watching the cluster failed: {self._failed!r}") from self._failed
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            with self._changed:
                self._changed.wait_for(lambda: self._version > seen, min(left, every))  # noqa: B023  # called here

    def catch_up(self, brokers: Collection[str], deadline: float) -> bool:
        """Until all is observed that ZooKeeper has decided by now, and each of these brokers was asked once more."""
        if self._follower is None:
            raise ValueError("only ZooKeeper can be asked for all that it has decided")
        follower, question, since = self._follower, self._follower.ask_anew(), time.monotonic()
        return self.wait(
            lambda: follower.answered >= question and all(self._asked[broker] >= since for broker in brokers), deadline
        )

    def __enter__(self) -> Observer:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _guard(self, work: Callable[..., None], *arguments: Watched) -> None:
        try:
            work(*arguments)
        except Exception as error:
            self._failed = error
            self._journal.trouble(f"watching the cluster failed: {error!r}")

    def _watch(self, node: Watched) -> None:
        with Line(node.endpoint) as line:
            while not self._stopping.is_set():
                began = time.monotonic()
                if node.is_zookeeper:
                    self._set_server(node.name, ask_server(node.endpoint, SILENT_AFTER))
                else:
                    self._look_at(node, line, began)
                self._stopping.wait(max(0.0, EVERY - (time.monotonic() - began)))

    def _look_at(self, node: Watched, line: Line, began: float) -> None:
        """What the node said last is no longer known when it does not answer."""
        try:
            view = line.ask(self._ask_controller if node.is_controller else self._ask_broker)
        except NoAnswer as error:
            answer = Answer.SILENT if isinstance(error, Unanswered) else Answer.CLOSED
            view = ControllerView(answer) if node.is_controller else BrokerView(answer)
        if isinstance(view, BrokerView):
            self._set_broker(node.name, view, began)
        else:
            self._set_controller(node.name, view)
        self._asked[node.name] = began

    def _ask_controller(self, connection: RawConnection) -> ControllerView | BrokerView:
        return ask_quorum(connection, self._dialect)

    def _ask_broker(self, connection: RawConnection) -> ControllerView | BrokerView:
        if not self._unasked:
            return ask_metadata(connection, self._dialect)
        topics = {entry.topic for entry in self._now.image.partitions.values()}
        return ask_metadata(connection, self._dialect, sorted(topics - self._unasked))

    def _set_broker(self, node: str, view: BrokerView, began: float) -> None:
        with self._changed:
            before = self._now.brokers.get(node)
            after = self._now if view == before else replace(self._now, brokers={**self._now.brokers, node: view})
            if self._follower is not None and self._dialect.has_controllers:
                self._listing = self._listing.told(node, view, began)
                after = replace(after, image=self._listing.applied(after.image))
            self._become(after)

    def _set_controller(self, node: str, view: ControllerView) -> None:
        with self._changed:
            if view != self._now.controllers.get(node):
                self._become(replace(self._now, controllers={**self._now.controllers, node: view}))

    def _set_server(self, node: str, view: ServerView) -> None:
        with self._changed:
            if view != self._now.servers.get(node):
                self._become(replace(self._now, servers={**self._now.servers, node: view}))

    def _set_tree(self, tree: Tree) -> None:
        """A claim that changed while it was read is left as it was: it is read again at once."""
        with self._changed:
            controllers = self._claimed(tree.claim, tree.image) if tree.whole else self._now.controllers
            image = _with_gone(self._now.image, tree.image)
            if self._dialect.has_controllers:
                self._listing = self._listing.of(next(iter(controllers), None), time.monotonic())
                image = self._listing.applied(image)
            self._become(
                replace(
                    self._now,
                    controllers=controllers,
                    image=image,
                    news=True,
                    pending=(*tree.pending, *tree.strange),
                    znodes=tree.znodes,
                    queues=tree.queues,
                )
            )

    def _claimed(self, claim: Claim | None, image: Image) -> Mapping[str, ControllerView]:
        """By the holder's name. Of an elder and its duplicate it is the one that registered, if by the same session."""
        if claim is None or not (names := [name for name, id in self._ids.items() if id == claim.broker]):
            return {}
        registered = image.brokers.get(claim.broker)
        process = None if registered is None else registered.process(self._ids)
        if registered is not None and process is not None and registered.owner != claim.owner:
            names = [name for name in names if name != process] or names
        elif process is not None:
            names = [process]
        return {names[0]: ControllerView(Answer.UNKNOWN, claim.broker, claim.epoch)}

    def _no_news(self) -> None:
        """Nobody can be elected or given up without ZooKeeper; who was the controller may be so no longer."""
        with self._changed:
            if self._now.news:
                self._become(replace(self._now, news=False, controllers={}))

    def _set_image(self, image: Image) -> None:
        with self._changed:
            self._become(replace(self._now, image=image))

    def _become(self, after: Observation) -> None:
        """With the lock held. Journalled before anybody can act on it."""
        if after == self._now:
            return
        for node, data in changes(self._now, after, self._ids):
            self._journal.write("state", node or "log", "seen", data, node=node)
        self._now = after
        self._version += 1
        self._changed.notify_all()

    def _follow(self) -> None:
        if self._follower is not None:
            self._follower.run(self._stopping)
            return
        tail = Tail(self._dialect)
        while not self._stopping.is_set():
            leader = self._leader()
            if leader is None:
                self._stopping.wait(EVERY)
            else:
                self._follow_log(leader, tail)

    def _follow_log(self, leader: tuple[Watched, int], tail: Tail) -> None:
        """For as long as this controller leads at this epoch."""
        node, epoch = leader
        with Line(node.endpoint) as line:
            while not self._stopping.is_set() and self._leader() == leader:
                before = tail.image.offset
                try:
                    line.ask(lambda connection: self._read_on(tail, epoch, connection))
                except (NoAnswer, NotLeader):
                    self._stopping.wait(EVERY)
                else:
                    self._stopping.wait(IDLE if tail.image.offset == before else 0.0)

    def _read_on(self, tail: Tail, epoch: int, connection: RawConnection) -> None:
        for image in tail.read(connection, epoch):
            self._set_image(image)

    def _leader(self) -> tuple[Watched, int] | None:
        """The controller that says it leads, at the highest epoch anybody claims, and that epoch."""
        node = active_controller(self._now, controllers_by_id(self._nodes))
        if node is None:
            return None
        return next(each for each in self._nodes if each.name == node), self._now.controllers[node].epoch


@dataclass(frozen=True)
class Listing:
    """Which brokers the active controller lists in its Metadata: only that shows whom it holds to be alive (KIP-343).

    Kept while nobody is active, and while the active one does not answer; of another one nothing is known until it has
    answered. An answer counts from an election on.
    """

    controller: str | None = None
    since: float = 0.0
    brokers: frozenset[int] | None = None
    by: str | None = None
    """Who gave the list."""

    def of(self, controller: str | None, now: float) -> Listing:
        """This controller is the active one."""
        if controller == self.controller:
            return self
        brokers = self.brokers if controller in (None, self.by) else None
        return replace(self, controller=controller, since=now, brokers=brokers)

    def told(self, node: str, view: BrokerView, began: float) -> Listing:
        """`node` answered so to a question of that time."""
        if node != self.controller or view.answer is not Answer.SERVING or began < self.since:
            return self
        return replace(self, brokers=view.brokers, by=node)

    def applied(self, image: Image) -> Image:
        """The image with each registered broker as active or inactive; the same one if nothing is otherwise."""
        states = {id: self._state(id) for id, broker in image.brokers.items() if broker.state != "gone"}
        otherwise = {id: state for id, state in states.items() if image.brokers[id].state != state}
        if not otherwise:
            return image
        changed = {id: replace(image.brokers[id], state=state) for id, state in otherwise.items()}
        return replace(image, brokers={**image.brokers, **changed})

    def _state(self, broker: int) -> str:
        if self.brokers is None:
            return "registered"
        return "active" if broker in self.brokers else "inactive"


def _with_gone(before: Image, after: Image) -> Image:
    """A broker whose registration went keeps the epoch that it last had."""
    gone = {id: replace(broker, state="gone") for id, broker in before.brokers.items() if id not in after.brokers}
    return replace(after, brokers={**gone, **after.brokers}) if gone else after
