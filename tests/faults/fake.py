"""A cluster of dictionaries in which every operation works, unless it is made to have no effect."""

from __future__ import annotations

import signal
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from fencepost.faults.capabilities import (
    CUT,
    HEALTHY,
    ORDERLY,
    Broken,
    CapabilityError,
    Certificate,
    Claim,
    ClockReading,
    Contents,
    Damage,
    DirState,
    LinkState,
    ProbeResult,
    ProcessStatus,
    RoundTrip,
    Running,
    Shown,
    Stream,
    Toxic,
    Transfer,
)
from tests.faults.fake_containers import FakeContainers
from tests.faults.fake_disks import FakeDisks
from tests.faults.fake_links import FakeHeld, reached, takes_ms, transferred
from tests.faults.fake_messages import FakeMessages


@dataclass
class FakeCluster:
    """All of its own capabilities. `deaf`: injections have no effect, without an error."""

    running: dict[str, ProcessStatus] = field(default_factory=dict)
    states: dict[tuple[str, str], LinkState] = field(default_factory=dict)
    deaf: bool = False
    lost: list[str] = field(default_factory=list)
    """The failure of the process that carries the cluster."""
    numb: bool = False
    """Proxies report what was ordered, and bytes pass all the same."""
    open: dict[tuple[str, str], list[FakeHeld]] = field(default_factory=lambda: defaultdict(list))
    """Connections that are held through each link."""
    never_ready: bool = False
    calls: list[str] = field(default_factory=list)
    broken_dirs: dict[tuple[str, int], Broken] = field(default_factory=dict)
    held: dict[tuple[str, str], int] = field(default_factory=dict)
    """Which log directory of a node holds a partition."""
    claims: dict[str, Claim] = field(default_factory=dict)
    """The claims of the directories and the configuration of each node."""
    written: dict[str, int] = field(default_factory=lambda: defaultdict(lambda: 100))
    """Bytes in the directories of each node. It writes on for as long as it runs, each time that one looks."""
    copies: dict[tuple[str, str], int] = field(default_factory=dict)
    damaged: dict[str, Damage] = field(default_factory=dict)
    """The damage to the files of each node."""
    sent: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    """Bytes of requests that a link took while it held them."""
    last_words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The last log lines of a duplicate on the directory of its original, before it ends by itself."""
    pids: Iterator[int] = field(default_factory=lambda: count(2))
    ahead: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """The wall clock of each node: milliseconds ahead, ppm, since when. Each look at one takes a tenth of a second."""
    broken_disks: FakeDisks = field(default_factory=FakeDisks)
    its_messages: FakeMessages = field(default_factory=FakeMessages)
    keystores: dict[str, Certificate] = field(default_factory=dict)
    read_keystores: dict[str, Certificate] = field(default_factory=dict)
    """The certificates that the processes of nodes have read."""
    passwords: dict[str, str | None] = field(default_factory=dict)
    """Those that were changed; None: the user is gone."""
    its_containers: FakeContainers = field(default_factory=FakeContainers)
    seconds: Iterator[float] = field(default_factory=lambda: count(0.1, 0.1))

    def broken(self) -> list[str]:
        return self.lost

    @property
    def processes(self) -> FakeCluster:
        return self

    @property
    def links(self) -> FakeCluster:
        return self

    @property
    def messages(self) -> FakeMessages:
        self.its_messages.deaf = self.deaf
        return self.its_messages

    @property
    def duplicates(self) -> FakeCluster:
        return self

    @property
    def log_dirs(self) -> FakeLogDirs:
        return FakeLogDirs(self)

    @property
    def directories(self) -> FakeDirectories:
        return FakeDirectories(self)

    @property
    def disks(self) -> FakeDisks:
        self.broken_disks.deaf = self.deaf
        return self.broken_disks

    @property
    def containers(self) -> FakeContainers:
        self.its_containers.deaf = self.deaf
        return self.its_containers

    @property
    def clocks(self) -> FakeClocks:
        return FakeClocks(self)

    @property
    def certificates(self) -> FakeCertificates:
        return FakeCertificates(self)

    @property
    def users(self) -> FakeUsers:
        return FakeUsers(self)

    def _become(self, verb: str, node: str, status: ProcessStatus) -> None:
        self.calls.append(f"{verb} {node}")
        if not self.deaf:
            self.running[node] = status

    def start(self, node: str) -> None:
        self._become("start", node, ProcessStatus(Running.RUNNING, pid=next(self.pids)))
        self.certificates.read_anew(node)

    def await_ready(self, node: str, timeout: float, since: float | None = None) -> None:
        if self.never_ready:
            raise CapabilityError(f"{node} did not answer in {timeout} s")

    def kill(self, node: str) -> None:
        self._end("kill", node, -signal.SIGKILL)

    def shut_down(self, node: str) -> None:
        self._end("shut down", node, 0)

    def _end(self, verb: str, node: str, exit_code: int) -> None:
        self._become(verb, node, ProcessStatus(Running.EXITED, pid=self.status(node).pid, exit_code=exit_code))

    def is_orderly(self, exit_code: int | None) -> bool:
        return exit_code in ORDERLY

    def await_end(self, node: str, timeout: float) -> bool:
        return self.deaf or self.status(node).running is Running.EXITED

    def said(self, node: str) -> Sequence[str]:
        return ["it runs", *self.last_words.get(node, ())]

    def pause(self, node: str) -> None:
        self._become("pause", node, ProcessStatus(Running.PAUSED, pid=1))

    def resume(self, node: str) -> None:
        self._become("resume", node, ProcessStatus(Running.RUNNING, pid=1))

    def status(self, node: str) -> ProcessStatus:
        return self.running.get(node, ProcessStatus(Running.NEVER_STARTED))

    def peers(self, node: str) -> frozenset[str]:
        return frozenset({"node-1"})

    def start_duplicate(self, node: str) -> None:
        self.start(node)
        if self.last_words.get(node) and not self.deaf:
            self._end("refuse", node, 1)

    def shares_directory(self, node: str) -> bool:
        return node in self.last_words

    def stop_duplicate(self, node: str) -> None:
        self.kill(node)

    def _set(self, source: str, destination: str, state: LinkState) -> None:
        if not self.deaf:
            for held in self.open[source, destination]:
                held.become(self._passing(source, destination), HEALTHY if self.numb else state)
            self.states[source, destination] = state

    def harm(self, source: str, destination: str, toxics: frozenset[Toxic]) -> None:
        self._set(source, destination, LinkState(enabled=True, toxics=toxics))

    def cut(self, source: str, destination: str) -> None:
        self._set(source, destination, CUT)

    def restore(self, source: str, destination: str) -> None:
        self._set(source, destination, HEALTHY)

    def state(self, source: str, destination: str) -> LinkState:
        return self.states.get((source, destination), HEALTHY)

    def _passing(self, source: str, destination: str) -> LinkState:
        return HEALTHY if self.numb else self.state(source, destination)

    def reach(self, source: str, destination: str, timeout: float) -> ProbeResult:
        if destination in self.its_containers.off:
            return ProbeResult.SILENT
        met, running = reached(self._passing(source, destination)), self.status(destination).running
        if met is ProbeResult.ANSWERED and running is not Running.RUNNING:
            return ProbeResult.SILENT if running is Running.PAUSED else ProbeResult.CLOSED
        return met

    def round_trip(self, source: str, destination: str, timeout: float) -> RoundTrip:
        return RoundTrip(self.reach(source, destination, timeout), takes_ms(self._passing(source, destination), {}))

    def transfer(
        self, source: str, destination: str, stream: Stream, size: int, timeout: float, *, at_once: bool = False
    ) -> Transfer:
        return transferred(self._passing(source, destination), stream, size)

    def taken(self, source: str, destination: str) -> Mapping[str, int]:
        """Return the bytes that a living process sent while its link was harmed; they stay until the link is
        restored."""
        status, held = self.status(source), bool(self.state(source, destination).toxics)
        taken = self.sent[source, destination]
        if held and status.running is Running.RUNNING:
            self.sent[source, destination] += 100
        return {"its": taken} if held else {}

    def cut_short(self, source: str, destination: str) -> Mapping[str, int]:
        return {}

    def hold(self, source: str, destination: str, timeout: float) -> FakeHeld | None:
        if self.reach(source, destination, timeout) is not ProbeResult.ANSWERED:
            return None
        self.open[source, destination].append(FakeHeld())
        return self.open[source, destination][-1]


@dataclass
class FakeClocks:
    cluster: FakeCluster

    def set(self, node: str, ahead_ms: int, rate_ppm: int = 0) -> None:
        if not self.cluster.deaf:
            self.cluster.ahead[node] = ahead_ms, rate_ppm, next(self.cluster.seconds)

    def read(self, node: str) -> ClockReading:
        ahead, ppm, since = self.cluster.ahead.get(node, (0, 0, 0))
        now = next(self.cluster.seconds)
        ahead += (now - since) * ppm / 1000
        gone = None if self.cluster.status(node).running is Running.RUNNING else f"{node} has no process"
        return ClockReading(ahead, now, gone, 1, (ahead, ahead))


@dataclass
class FakeCertificates:
    cluster: FakeCluster

    def give(self, node: str, certificate: Certificate) -> None:
        if not self.cluster.deaf:
            self.cluster.keystores[node] = certificate

    def held(self, node: str) -> str:
        return self.cluster.keystores.get(node, Certificate.OWN).value

    def read_anew(self, node: str) -> None:
        if not self.cluster.deaf:
            self.cluster.read_keystores[node] = Certificate(self.held(node))

    forget = read_anew

    def shown(self, node: str) -> Shown | None:
        if self.cluster.status(node).running is not Running.RUNNING:
            return None
        shown = self.cluster.read_keystores.get(node, Certificate.OWN)
        trusted = shown in (Certificate.OWN, Certificate.RENEWED)
        return Shown(shown.value, None if trusted else f"it is {shown.value}")


@dataclass
class FakeUsers:
    cluster: FakeCluster

    def change(self, user: str, password: str | None) -> None:
        if not self.cluster.deaf:
            self.cluster.passwords[user] = password

    def restore(self, user: str) -> None:
        self.change(user, "own")

    def let_in(self, user: str, password: str | None = None) -> Mapping[str, bool]:
        return {node: (password or "own") == self.cluster.passwords.get(user, "own") for node in self.cluster.running}


@dataclass
class FakeLogDirs:
    cluster: FakeCluster

    def holding(self, node: str, partition: str) -> int:
        if (node, partition) not in self.cluster.held:
            raise CapabilityError(f"no log directory of {node} holds {partition}")
        return self.cluster.held[node, partition]

    def break_(self, node: str, number: int, how: Broken) -> None:
        if not self.cluster.deaf:
            self.cluster.broken_dirs[node, number] = how

    def restore(self, node: str, number: int) -> None:
        if not self.cluster.deaf:
            self.cluster.broken_dirs.pop((node, number), None)

    def state(self, node: str, number: int) -> DirState:
        errors = {Broken.REPLACED: "ENOTDIR", Broken.REMOVED: "ENOENT"}
        how = self.cluster.broken_dirs.get((node, number))
        return DirState(f"{node}/{number}", None if how is None else errors[how])


@dataclass
class FakeDirectories:
    cluster: FakeCluster

    def contents(self, node: str) -> Contents:
        running = self.cluster.status(node).running is Running.RUNNING
        self.cluster.written[node] += 10 * running
        return _contents(self.cluster.written[node])

    def empty(self, node: str) -> None:
        self._write(node, 0)

    def copy(self, node: str, name: str) -> Contents:
        self.cluster.copies[node, name] = self.cluster.written[node]
        self.cluster.written[node] += 10
        return self.copied(node, name)

    def copied(self, node: str, name: str) -> Contents:
        if (node, name) not in self.cluster.copies:
            raise CapabilityError(f"{node} has no copy {name!r}")
        return _contents(self.cluster.copies[node, name])

    def put_back(self, node: str, name: str) -> None:
        self._write(node, self.cluster.copies[node, name])

    def _write(self, node: str, size: int) -> None:
        if not self.cluster.deaf:
            self.cluster.written[node] = size

    def files(self, node: str, pattern: str) -> Mapping[str, str]:
        damage = self.cluster.damaged.get(node)
        return {} if damage is Damage.LOST else {f"data/{pattern}": "whole" if damage is None else damage.value}

    def damage(self, node: str, pattern: str, damage: Damage, copy: str | None = None) -> None:
        if not self.cluster.deaf:
            self.cluster.damaged[node] = damage

    def repair(self, node: str) -> None:
        self.cluster.damaged.pop(node, None)

    def claim(self, node: str) -> Claim:
        number = int(node.removeprefix("node-").rstrip("b"))
        return self.cluster.claims.get(node, Claim(number, number, "own"))

    def swap(self, one: str, other: str) -> None:
        mine, theirs = self.claim(one), self.claim(other)
        self._say(one, replace(mine, stored_id=theirs.stored_id))
        self._say(other, replace(theirs, stored_id=mine.stored_id))

    def set_stored_cluster(self, node: str, cluster: str) -> None:
        self._say(node, replace(self.claim(node), stored_cluster=cluster))

    def set_configured_id(self, node: str, id: int) -> None:
        self._say(node, replace(self.claim(node), configured_id=id))

    def _say(self, node: str, claim: Claim) -> None:
        if not self.cluster.deaf:
            self.cluster.claims[node] = claim

    def unused_id(self) -> int:
        return 7


def _contents(size: int) -> Contents:
    return Contents(frozenset({"t-0"}) if size else frozenset(), size, f"digest of {size} bytes")


def cluster_of(*nodes: str) -> FakeCluster:
    return FakeCluster(running={node: ProcessStatus(Running.RUNNING, pid=1) for node in nodes})
