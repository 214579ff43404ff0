"""One broker of a target, started and asked: its ids, what it serves and writes, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TypeVar

from kio.schema.errors import ErrorCode

from fencepost.faults.capabilities import ProbeResult, Running
from fencepost.harness.clients.asking import ask_coordinator
from fencepost.harness.clients.login import connect
from fencepost.harness.clients.raw import NoAnswer, RawConnection
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.network.layout import MAIN_SITE, SITE_PREFIX, Listener, Node
from fencepost.harness.network.roundtrip import round_trip
from fencepost.harness.network.socket_table import SocketState, sockets_of
from fencepost.harness.plan import topologies
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.internal_topics import COORDINATORS
from fencepost.harness.plan.model import Plan, Timing, Topology
from fencepost.harness.plan.requests.create_topic import create_topic
from fencepost.harness.plan.requests.metadata import request_metadata
from fencepost.harness.plan.requests.produce import send_record
from fencepost.harness.targets.certificates import KEYSTORE, TRUSTSTORE
from fencepost.harness.targets.registry import load, reference_of
from fencepost.harness.targets.security import access
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import JournalWriter

TOPIC, OTHER_TOPIC = "fencepost-doctor", "fencepost-doctor-2"
START_SECONDS = 30.0
"""Seconds for the broker to answer; a JVM on a busy machine needs many."""
END_SECONDS = 10.0
SETTLE_SECONDS = 5.0
"""Seconds for what comes into being by a request: a topic, a coordinator, a broker that is let in."""
ASK_SECONDS = 5.0
ASK_EVERY = 0.05
_OF_HARNESS = frozenset({"node.properties", "hosts", KEYSTORE, TRUSTSTORE})

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Answers:
    """The answers of one broker, and what was seen of it. Times are in seconds."""

    target: str
    node: str
    id: int
    """Its id in the target file."""
    started: float
    """From its start to its first answer."""
    listed: Mapping[int, str]
    """The brokers in its Metadata: `host:port` by id."""
    advertised: str
    """The `host:port` that it has to tell clients."""
    at_peer_port: bool
    """It answers at the port for its peers."""
    offered: Mapping[str, tuple[int, int]]
    """The lowest and the highest version of each request that it serves, by name."""
    creation: str | None
    """The error of CreateTopics, `none` without one; None if it has no such request."""
    creation_at_second: str | None
    """The same of another broker of the cluster; None if there is none."""
    listed_by_second: Mapping[int, str]
    internal_topics: tuple[str, ...]
    """The topics that it has though no client asked for them, after clients had asked for coordinators."""
    coordinators: Mapping[str, int | None]
    files: tuple[str, ...]
    """Its files after a record was written, below its own folder."""
    exit_code: int | None
    """That after SIGTERM; None if it still ran after `END_SECONDS`."""
    ended: float
    """From SIGTERM to its end."""

    @property
    def has_segments(self) -> bool:
        """True if it keeps the log of a partition as Apache Kafka does."""
        return any(f"{TOPIC}-0/" in file and file.endswith(".log") for file in self.files)


def examine(reference: str, scratch: Path) -> Answers:
    """Start a broker of the target in the folder `scratch`, and ask it. All is ended again.

    Raise UsageError for a target that cannot be used, InfrastructureError for one that does not start or answer.
    """
    target = load(reference)
    plan = _plan(reference)
    folder = RunFolder.create(scratch, plan_hash(plan), date.today())
    with JournalWriter(folder.journal) as journal, Cluster(plan, folder, journal, target) as cluster:
        first, *others = (node for node in cluster.layout.nodes if node.is_broker)
        if beside := [node.name for node in cluster.layout.nodes if not node.is_broker]:
            cluster.start(beside)
        return _Examination(cluster, journal, first, others).answers()


def _plan(reference: str) -> Plan:
    """Return the plan of one broker, with a second one that can be started, and what they need beside them."""
    file = load(reference).file
    lease = file.timeout_factor * 3000
    first, *others = topologies.brokers(file.brokers.ids)
    second = others if file.one_process else [node.model_copy(update={"start": "later"}) for node in others[:1]]
    deciders = topologies.deciders(file.dialect)[:1]
    return Plan(
        scenario="doctor",
        title="One broker",
        document="none",
        seed=0,
        target=reference_of(reference),
        timing=Timing(lease_ms=lease, session_ms=lease, fence_ms=lease + 1000),
        security=file.security,
        topology=Topology(nodes=(*topologies.services(file.services), *deciders, first, *second)),
    )


class _Examination:
    def __init__(self, cluster: Cluster, journal: JournalWriter, first: Node, others: list[Node]) -> None:
        self._cluster = cluster
        self._journal = journal
        self._first = first
        self._second = others[0] if others else None

    def answers(self) -> Answers:
        node, cluster = self._first, self._cluster
        started = self._start(node)
        offered = _by_name(self._ask(node, RawConnection.offered))
        listed = self._listed(node)
        creation = self._created(node, TOPIC) if "create_topics" in offered else None
        if creation == ErrorCode.none.name and "produce" in offered:
            self._ask(node, self._write)
        asked = offered if "find_coordinator" in offered else {}
        coordinators = {kind: self._coordinator(node, kind) for kind in COORDINATORS if asked}
        topics = sorted(topic.name for topic in self._ask(node, request_metadata).topics)
        of_second, at_second = self._of_second(self._second) if self._second else ({}, None)
        files = self._files()
        exit_code, ended = self._end()
        return Answers(
            target=cluster.plan.target,
            node=node.name,
            id=node.id,
            started=started,
            listed=listed,
            advertised=str(cluster.layout.link(SITE_PREFIX + MAIN_SITE, node.name).listen),
            at_peer_port=self._at_peer_port,
            offered=offered,
            creation=creation,
            creation_at_second=at_second,
            listed_by_second=of_second,
            internal_topics=tuple(topic for topic in topics if topic not in (TOPIC, OTHER_TOPIC)),
            coordinators=coordinators,
            files=files,
            exit_code=exit_code,
            ended=ended,
        )

    def _start(self, node: Node) -> float:
        """Start a broker, and wait until it answers at its port for clients; return the seconds that it took."""
        began = time.monotonic()
        self._cluster.processes.start(node.name)
        endpoint = node.endpoint(Listener.CLIENT)
        dial = self._cluster.installation.dial
        over_tls = " over TLS" if self._cluster.installation.tls(endpoint) is not None else ""
        while round_trip(endpoint, 1.0, partial(dial, endpoint)).reach is not ProbeResult.ANSWERED:
            if self._cluster.processes.status(node.name).running is Running.EXITED:
                raise InfrastructureError(self._cluster.processes.exit_summary(node.name))
            if time.monotonic() - began > START_SECONDS:
                raise InfrastructureError(
                    f"{node.name} does not answer ApiVersions{over_tls} at {endpoint} after {START_SECONDS:g} s: "
                    f"{self._where(node)}"
                )
            time.sleep(ASK_EVERY)
        seconds = round(time.monotonic() - began, 2)
        at_peers = round_trip(node.front, 1.0, partial(dial, node.front)).reach
        self._at_peer_port = at_peers is ProbeResult.ANSWERED
        return seconds

    def _where(self, node: Node) -> str:
        """Say where it listens instead, and end with the last lines of its log."""
        pid = self._cluster.processes.status(node.name).pid
        found = sockets_of(pid) if pid is not None else []
        places = sorted(str(each.local) for each in found if each.state is SocketState.LISTEN)
        lines = "".join(f"\n  | {line}" for line in self._cluster.processes.said(node.name)[-10:])
        return f"it listens at {', '.join(places) or 'no address'}; the last lines of its log:{lines or ' (none)'}"

    def _write(self, connection: RawConnection) -> None:
        send_record(
            connection,
            self._journal,
            process="doctor",
            number=0,
            topic=TOPIC,
            partition=0,
            acks=1,
            timeout_ms=int(ASK_SECONDS * 1000),
        )

    def _of_second(self, second: Node) -> tuple[dict[int, str], str | None]:
        self._start(second)
        offered = _by_name(self._ask(second, RawConnection.offered))
        return self._listed(second), self._created(second, OTHER_TOPIC) if "create_topics" in offered else None

    def _files(self) -> tuple[str, ...]:
        home = self._cluster.installation.home(self._first)
        ours = _OF_HARNESS | self._cluster.target.files(self._first, self._cluster.installation).keys()
        found = (path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())
        return tuple(sorted(path for path in found if path not in ours))

    def _end(self) -> tuple[int | None, float]:
        name, began = self._first.name, time.monotonic()
        self._cluster.processes.shut_down(name)
        over = self._cluster.processes.await_end(name, END_SECONDS)
        seconds = round(time.monotonic() - began, 2)
        return (self._cluster.processes.status(name).exit_code if over else None), seconds

    def _ask(self, node: Node, question: Callable[[RawConnection], _Found]) -> _Found:
        """Ask over a connection of its own: a broker may end one over a request.

        InfrastructureError without an answer.
        """
        known = access(Listener.CLIENT, self._cluster.installation)
        try:
            with connect(node.endpoint(Listener.CLIENT), ASK_SECONDS, known) as connection:
                return question(connection)
        except NoAnswer as error:
            raise InfrastructureError(f"{node.name} did not answer: {error}") from error

    def _listed(self, node: Node) -> dict[int, str]:
        """Return the brokers that it lists, once it lists any."""
        answer = _once(
            lambda: self._ask(node, lambda line: request_metadata(line, ())), lambda found: bool(found.brokers)
        )
        return {int(broker.node_id): f"{broker.host}:{broker.port}" for broker in answer.brokers}

    def _created(self, node: Node, topic: str) -> str:
        """Create a topic of one partition. Return the error that stays, by name."""
        wanted = (ErrorCode.none, ErrorCode.topic_already_exists, ErrorCode.not_controller)

        def create() -> ErrorCode:
            return self._ask(node, lambda line: create_topic(line, topic, 1, 1, int(ASK_SECONDS * 1000))[0])

        return _once(create, lambda error: error in wanted).name

    def _coordinator(self, node: Node, kind: str) -> int | None:
        def find() -> int | None:
            return self._ask(node, lambda line: ask_coordinator(line, f"{kind}:doctor"))

        try:
            return _once(find, lambda found: found is not None)
        except InfrastructureError:
            return None


def _by_name(offered: Mapping[int, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Return the requests by name; one that is not known here has its number."""
    from kio.schema.index import api_key_map

    return {api_key_map.get(key, f"request-{key}"): versions for key, versions in sorted(offered.items())}


def _once(ask: Callable[[], _Found], good: Callable[[_Found], bool]) -> _Found:
    """Ask until the answer is a good one, for a while; return the last one.

    Raise InfrastructureError if the last question got none: a broker that is fenced answers no client.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        late = time.monotonic() > deadline
        try:
            if good(found := ask()) or late:
                return found
        except InfrastructureError:
            if late:
                raise
        time.sleep(ASK_EVERY)
