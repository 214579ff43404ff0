"""Observes a cluster from outside: the state that each node reports, and the decisions of the controllers.

One thread for each node asks it about every 100 ms through the probe site's own link, which no fault breaks. One more
follows what the controllers decided: the metadata log at the leader of the highest epoch, or the tree of ZooKeeper.
Changes are journalled (`state`), and wake threads that wait for a condition.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from fencepost.harness.clients.asking import (
    SILENT_AFTER,
    ReconnectingConnection,
    ask_coordinator,
    ask_metadata,
    ask_quorum,
)
from fencepost.harness.clients.changes import changes
from fencepost.harness.clients.described import described_image
from fencepost.harness.clients.ends import Turns, VisibleEnds, ask_ends, led_by
from fencepost.harness.clients.login import PLAINTEXT, Access
from fencepost.harness.clients.metadata.fetching import NotLeader, Tail
from fencepost.harness.clients.metadata.image import Image
from fencepost.harness.clients.raw import NoAnswer, RawConnection, Unanswered
from fencepost.harness.clients.views import (
    Answer,
    BrokerView,
    ControllerView,
    Observation,
    ServerView,
    active_controller,
)
from fencepost.harness.clients.zookeeper.follower import Follower
from fencepost.harness.clients.zookeeper.leaderless import WatchedTree
from fencepost.harness.clients.zookeeper.reading import read_tree
from fencepost.harness.clients.zookeeper.server import ask_server
from fencepost.harness.clients.zookeeper.tree import ControllerClaim, Tree
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.plan.dialect import Dialect
from fencepost.results.records.journal import JournalWriter

EVERY = 0.1
"""Seconds between two questions to one node."""
IDLE = 0.02
"""Seconds of rest after an answer with nothing newly committed: a leader that cannot commit answers at once."""
RECHECK = 0.05
"""Seconds between two looks at conditions that are not about what is observed here (a process, a counter)."""


@dataclass(frozen=True)
class ObservedNode:
    """A node as the observer needs it."""

    name: str
    id: int
    endpoint: Endpoint
    is_controller: bool
    is_zookeeper: bool = False
    is_duplicate: bool = False
    """True for a duplicate of a node with the same id; other nodes reach that one."""
    access: Access = PLAINTEXT


def controllers_by_id(nodes: Iterable[ObservedNode]) -> dict[int, str]:
    """Return the controllers by id, without duplicates."""
    return {node.id: node.name for node in nodes if node.is_controller and not node.is_duplicate}


class Observer:
    """A context in which the cluster is observed. All methods may be called from any thread.

    Brokers are not asked about `unqueried_topics`: an answer about thousands of partitions would take longer than the
    interval between two queries (`plan/sampled.py`). Of a cluster that `lives_on`, all that was decided before the run
    counts as one state. Brokers are asked for these `coordinators`, and of a cluster that others use for `only_topics`.
    """

    def __init__(
        self,
        nodes: tuple[ObservedNode, ...],
        dialect: Dialect,
        journal: JournalWriter,
        unqueried_topics: frozenset[str] = frozenset(),
        *,
        lives_on: bool = False,
        coordinators: Collection[str] = (),
        only_topics: Collection[str] | None = None,
    ) -> None:
        self._nodes = nodes
        self._dialect = dialect
        self._journal = journal
        self._unqueried_topics = unqueried_topics
        self._reads_the_past = lives_on
        self._coordinators = tuple(coordinators)
        self._only_topics = None if only_topics is None else sorted(only_topics)
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._now = Observation()
        self._version = 0
        self._failed: Exception | None = None
        # A node of two roles has the id of its broker: later entries win.
        self._ids = {node.name: node.id for node in nodes if not node.is_zookeeper}
        self._asked = dict.fromkeys(self._ids, 0.0)
        """When the last question began that each node answered or left unanswered; monotonic."""
        self._wanted: frozenset[str] = frozenset()
        self._listed = ListedBrokers()
        self._ends = VisibleEnds(journal)
        self._turns = {node.name: Turns() for node in nodes}
        servers = [node.endpoint for node in nodes if node.is_zookeeper]
        read = read_tree if dialect.has_controllers else WatchedTree()
        self._follower = (
            Follower(servers, read, lambda: self._wanted, self._set_tree, self._no_news) if servers else None
        )
        self._threads = [threading.Thread(target=self._guard, args=(self._watch, node)) for node in nodes]
        if dialect.shows_decisions:
            self._threads.append(threading.Thread(target=self._guard, args=(self._follow,)))

    @property
    def now(self) -> Observation:
        return self._now

    def want(self, path: str) -> None:
        """Also read this path of ZooKeeper's tree from now on; `now.znodes` has it once it was read."""
        with self._changed:
            self._wanted |= {path}

    def wait(self, condition: Callable[[], bool], deadline: float, every: float = RECHECK) -> bool:
        """Wait until `condition` holds, checked after each change and every `every` seconds.

        Returns False once the monotonic `deadline` has passed. Raises InfrastructureError if a thread of the observer
        has failed, since no condition could then come true.
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
        """Wait until all present decisions of ZooKeeper are observed, and each of these brokers was polled again."""
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

    def _guard(self, work: Callable[..., None], *arguments: ObservedNode) -> None:
        try:
            work(*arguments)
        except Exception as error:
            self._failed = error
            self._journal.infrastructure(f"watching the cluster failed: {error!r}")

    def _watch(self, node: ObservedNode) -> None:
        with ReconnectingConnection(node.endpoint, node.access) as line:
            while not self._stopping.is_set():
                began = time.monotonic()
                if node.is_zookeeper:
                    self._set_server(node.name, ask_server(node.endpoint, SILENT_AFTER))
                else:
                    self._look_at(node, line, began)
                self._stopping.wait(max(0.0, EVERY - (time.monotonic() - began)))

    def _look_at(self, node: ObservedNode, line: ReconnectingConnection, began: float) -> None:
        """Poll a node; a node that does not answer loses its last known state."""
        try:
            view = line.ask(self._ask_controller if node.is_controller else self._ask_broker)
        except NoAnswer as error:
            answer = Answer.SILENT if isinstance(error, Unanswered) else Answer.CLOSED
            view = ControllerView(answer) if node.is_controller else BrokerView(answer)
        if isinstance(view, BrokerView):
            self._set_broker(node.name, view, began)
            self._look_at_ends(node, line, view, began)
            self._look_at_coordinators(line, view)
        else:
            self._set_controller(node.name, view)
        self._asked[node.name] = began

    def _look_at_ends(self, node: ObservedNode, line: ReconnectingConnection, view: BrokerView, began: float) -> None:
        """Ask for the ends of the partitions that the broker leads. A duplicate is not the one that clients reach."""
        led = [] if node.is_duplicate else led_by(view, node.id)
        if self._turns[node.name].due(led, began):
            with suppress(NoAnswer):
                self._ends.ask(node.name, led, lambda: line.ask(lambda connection: ask_ends(connection, led)))

    def _look_at_coordinators(self, line: ReconnectingConnection, view: BrokerView) -> None:
        for role in self._coordinators if view.answer is Answer.SERVING else ():
            with suppress(NoAnswer):
                named = line.ask(lambda connection: ask_coordinator(connection, role))  # noqa: B023  # called here
                if named is not None and named != self._now.coordinators.get(role):
                    with self._changed:
                        self._become(replace(self._now, coordinators={**self._now.coordinators, role: named}))

    def _ask_controller(self, connection: RawConnection) -> ControllerView | BrokerView:
        return ask_quorum(connection, self._dialect)

    def _ask_broker(self, connection: RawConnection) -> ControllerView | BrokerView:
        if self._only_topics is not None:
            return ask_metadata(connection, self._only_topics)
        if not self._unqueried_topics:
            return ask_metadata(connection)
        topics = {entry.topic for entry in self._now.image.partitions.values()}
        return ask_metadata(connection, sorted(topics - self._unqueried_topics))

    def _set_broker(self, node: str, view: BrokerView, began: float) -> None:
        with self._changed:
            before = self._now.brokers.get(node)
            after = self._now if view == before else replace(self._now, brokers={**self._now.brokers, node: view})
            if not self._dialect.shows_decisions:
                after = replace(after, image=described_image(after.image, after.brokers, self._ids))
            elif self._follower is not None and self._dialect.has_controllers:
                self._listed = self._listed.updated(node, view, began)
                after = replace(after, image=self._listed.applied(after.image))
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
                self._listed = self._listed.of(next(iter(controllers), None), time.monotonic())
                image = self._listed.applied(image)
            self._become(
                replace(
                    self._now,
                    controllers=controllers,
                    image=image,
                    news=True,
                    pending=(*tree.pending, *tree.malformed),
                    znodes=tree.znodes,
                    queues=tree.queues,
                )
            )

    def _claimed(self, claim: ControllerClaim | None, image: Image) -> Mapping[str, ControllerView]:
        """By the holder's name.

        Of an original and its duplicate it is the one that registered, if by the same session.
        """
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
        """Forget the controller: without ZooKeeper it may have lost its leadership."""
        with self._changed:
            if self._now.news:
                self._become(replace(self._now, news=False, controllers={}))

    def _set_image(self, image: Image) -> None:
        with self._changed:
            self._become(replace(self._now, image=image))

    def _become(self, after: Observation) -> None:
        """Replace the observation, with the lock held; journal the changes before any thread can act on them."""
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

    def _follow_log(self, leader: tuple[ObservedNode, int], tail: Tail) -> None:
        """Follow the log while this controller leads at this epoch."""
        node, epoch = leader
        with ReconnectingConnection(node.endpoint, node.access) as line:
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
            if not self._reads_the_past:
                self._set_image(image)
        if self._reads_the_past and tail.caught_up:
            self._reads_the_past = False
            self._set_image(tail.image)

    def _leader(self) -> tuple[ObservedNode, int] | None:
        """Return the controller that claims to lead at the highest known epoch, and that epoch."""
        node = active_controller(self._now, controllers_by_id(self._nodes))
        if node is None:
            return None
        leader = next(each for each in self._nodes if each.name == node and each.is_controller)
        return leader, self._now.controllers[node].epoch


@dataclass(frozen=True)
class ListedBrokers:
    """The brokers in the Metadata of the active controller: only these does it hold to be alive (KIP-343).

    The list is kept while no controller is active, and while the active one does not answer. That of a new controller
    is unknown until it has answered a request that began after its election.
    """

    controller: str | None = None
    since: float = 0.0
    brokers: frozenset[int] | None = None
    by: str | None = None
    """The controller that gave the list."""

    def of(self, controller: str | None, now: float) -> ListedBrokers:
        """Return the list after `controller` became the active one."""
        if controller == self.controller:
            return self
        brokers = self.brokers if controller in (None, self.by) else None
        return replace(self, controller=controller, since=now, brokers=brokers)

    def updated(self, node: str, view: BrokerView, began: float) -> ListedBrokers:
        """Return the list after an answer of `node` to a request that began at `began`."""
        if node != self.controller or view.answer is not Answer.SERVING or began < self.since:
            return self
        return replace(self, brokers=view.brokers, by=node)

    def applied(self, image: Image) -> Image:
        """Return the image with each registered broker as active or inactive; the same image without changes."""
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
    """Return the image with unregistered brokers as `gone`, at their last epochs."""
    gone = {id: replace(broker, state="gone") for id, broker in before.brokers.items() if id not in after.brokers}
    return replace(after, brokers={**gone, **after.brokers}) if gone else after
