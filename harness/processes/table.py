"""The process table of this machine, read from /proc: identify and end exactly one process.

A pid alone is not unique, since the kernel reuses it. A pid together with its start time (clock ticks since
boot, field 22 of /proc/PID/stat) does; unlike a wall-clock time it does not move when the clock is set.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = "/proc"


@dataclass(frozen=True)
class Identity:
    """One process, for all time of this boot."""

    pid: int
    start_time: int
    """Clock ticks since boot."""


@dataclass(frozen=True)
class Relation:
    """How a process is related to others."""

    parent: int
    session: int
    """The pid of the process that leads its session, which may have ended."""


def identify(pid: int) -> Identity | None:
    """Return the identity of the process with this pid; None if there is none, or only a zombie."""
    fields = _stat(f"{PROC}/{pid}/stat")
    if fields is None or fields[0] in "ZX":
        return None
    return Identity(pid, int(fields[19]))


def identify_child(pid: int) -> Identity:
    """Return the identity of a child that was not waited for; it stays in the table even if it has ended."""
    fields = _stat(f"{PROC}/{pid}/stat")
    if fields is None:
        raise ProcessLookupError(f"process {pid} is not in the process table: it is no child, or was waited for")
    return Identity(pid, int(fields[19]))


def is_alive(identity: Identity) -> bool:
    return identify(identity.pid) == identity


def started(identity: Identity) -> float:
    """When the process was started, in unix seconds, as far as the clock was not set since."""
    boot = next(line for line in Path(PROC, "stat").read_text().splitlines() if line.startswith("btime "))
    return int(boot.split()[1]) + identity.start_time / os.sysconf("SC_CLK_TCK")


def thread_states(pid: int) -> str:
    """One letter of /proc for each thread of a process (`T` is stopped); empty if it does not exist."""
    states = (_stat(f"{PROC}/{pid}/task/{task}/stat") for task in _entries(f"{PROC}/{pid}/task"))
    return "".join(fields[0] for fields in states if fields is not None)


def processor_time(pid: int) -> float:
    """Seconds of processor time that a process has used, with all its threads that ended; 0 if it does not exist."""
    fields = _stat(f"{PROC}/{pid}/stat")
    return 0.0 if fields is None else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def boot_id() -> str:
    """Start times compare only within one boot of the machine."""
    return Path(PROC, "sys/kernel/random/boot_id").read_text().strip()


def own_harness_id() -> str:
    """Return the id of this process among all boots and pid namespaces: `boot/namespace/pid/start time`."""
    me = identify_child(os.getpid())
    return f"{boot_id()}/{_namespace()}/{me.pid}/{me.start_time}"


def harness_lives(harness_id: str) -> bool | None:
    """Return whether the process of this id lives; None for one of another machine, boot or namespace."""
    boot, _, rest = harness_id.partition("/")
    namespace, _, process = rest.partition("/")
    pid, _, start_time = process.partition("/")
    if (boot, namespace) != (boot_id(), _namespace()) or not (pid.isdigit() and start_time.isdigit()):
        return None
    return is_alive(Identity(int(pid), int(start_time)))


def environment(pid: int) -> dict[str, str]:
    """Return the initial environment of a process; empty if it is gone or belongs to another user."""
    pairs = (entry.partition(b"=") for entry in _environment(pid).split(b"\0") if b"=" in entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def variable(pid: int, name: str) -> str:
    """Return one variable of the initial environment of a process; empty if it is not set, or not known."""
    # Each look at the machine asks for this of every process: an environment is not taken apart for it.
    _, assignment, rest = (b"\0" + _environment(pid)).partition(b"\0" + os.fsencode(name) + b"=")
    return os.fsdecode(rest.partition(b"\0")[0]) if assignment else ""


def all_processes() -> Iterator[Identity]:
    for name in _entries(PROC):
        if name.isdigit() and (identity := identify(int(name))) is not None:
            yield identity


def relations() -> dict[Identity, Relation]:
    """All living processes, each with its relations."""
    stats = ((name, _stat(f"{PROC}/{name}/stat")) for name in _entries(PROC) if name.isdigit())
    return {
        Identity(int(pid), int(fields[19])): Relation(int(fields[1]), int(fields[3]))
        for pid, fields in stats
        if fields is not None and fields[0] not in "ZX"
    }


def kill(identity: Identity) -> None:
    """SIGKILL this very process, and do not wait for its end."""
    send(identity, signal.SIGKILL)


def send(identity: Identity, number: signal.Signals) -> None:
    """Signal this very process, if it is there and may be signalled."""
    with suppress(ProcessLookupError, PermissionError):
        descriptor = os.pidfd_open(identity.pid)
        try:
            if is_alive(identity):
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


def end(identity: Identity, timeout: float = 5.0) -> bool:
    """SIGKILL this very process and wait until it is gone. False if it had gone already.

    A pidfd holds on to the process between the check and the signal, so a recycled pid can never be hit. Raises
    TimeoutError if the kernel does not let go of it (for example in uninterruptible disk sleep).
    """
    try:
        descriptor = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return False
    try:
        if not is_alive(identity):
            return False
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        readable, _, _ = select.select([descriptor], [], [], timeout)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    if not readable:
        raise TimeoutError(f"process {identity.pid} is still there {timeout:g} s after SIGKILL")
    return True


def _namespace() -> str:
    """Pids compare only within one namespace of them."""
    return str(Path(PROC, "self/ns/pid").readlink())


# Each look at the machine reads some files of every process: paths as text take a tenth of the time of pathlib's.
def _entries(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def _environment(pid: int) -> bytes:
    try:
        with open(f"{PROC}/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _stat(path: str) -> list[str] | None:
    """The fields of a stat file after the command name, which may itself hold spaces and brackets."""
    try:
        with open(path, "rb") as file:
            return file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return None
