"""The kernel of this machine and its compiler: each thing that faults need of them is done once, and undone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fencepost.harness.clock.library import library, unavailable_reason
from fencepost.harness.disks import mounts
from fencepost.harness.doctor.mechanism import PROBE_SECONDS, Unavailable
from fencepost.harness.network.socket_table import sockets_of
from fencepost.harness.processes.command import no_name_tables

ONE_FILE = Path(__file__).with_name("one_file.py")


def fuse() -> str:
    """Mount a file system of one file and read that file. The mount ends with this process, however it ends."""
    if refused := mounts.unavailable_reason():
        what, _, remedy = refused.rpartition(": ")
        raise Unavailable(what, remedy)
    unmount = mounts.FUSERMOUNT
    with tempfile.TemporaryDirectory(prefix="fencepost-doctor-") as folder:
        child = subprocess.Popen(
            [sys.executable, str(ONE_FILE), folder, unmount],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            deadline = time.monotonic() + 5
            while not os.path.ismount(folder):
                if child.poll() is not None or time.monotonic() > deadline:
                    child.kill()
                    reason = child.communicate()[1].decode().strip().splitlines()
                    raise Unavailable(f"could not mount: {reason[-1] if reason else 'no answer in 5 s'}")
                time.sleep(0.01)
            content = Path(folder, "file").read_bytes()
        finally:
            subprocess.run([unmount, "-u", "-q", folder], check=False, stderr=subprocess.DEVNULL)
            child.kill()
            child.communicate()
    if content != b"fence":
        raise Unavailable(f"read {content!r} through the mount")
    return "mounted and read a file through it"


def wall_clock() -> str:
    """Compile the library that replaces the wall clock, unless the cache has it, and read a clock through it."""
    if reason := unavailable_reason():
        raise Unavailable(reason)
    built = library()
    done = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env={**os.environ, "LD_PRELOAD": str(built)},
        capture_output=True,
        text=True,
        timeout=PROBE_SECONDS,
    )
    if done.returncode != 0 or abs(float(done.stdout) - time.time()) > PROBE_SECONDS:
        raise Unavailable(f"a clock read through {built} was wrong: {(done.stderr or done.stdout).strip()[-120:]}")
    return f"read a clock through {built.name}"


def namespaces() -> str:
    """Give a process a mount namespace of its own, with a name table of its own."""
    if reason := no_name_tables():
        raise Unavailable(reason)
    return "a process saw a name table of its own"


def available_memory() -> int:
    """Return the bytes of memory that new processes can take here: of the machine, and of the container around."""
    fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    there = int(fields["MemAvailable"].split()[0]) * 1024
    limit, used = (Path("/sys/fs/cgroup", name) for name in ("memory.max", "memory.current"))
    if limit.is_file() and (most := limit.read_text().strip()) != "max":
        there = min(there, int(most) - int(used.read_text()))
    return there


def pause() -> str:
    """Stop a child process and check for state T in the process table."""
    child = subprocess.Popen(["sleep", "60"])
    try:
        child.send_signal(signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        state = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    finally:
        child.kill()
        child.wait()
    if state != "T":
        raise Unavailable(f"after SIGSTOP the process was in state {state}, not T")
    return "stopped a process and saw state T"


def loopback() -> str:
    """Bind addresses far apart in 127.0.0.0/8, as every running cluster does."""
    for address in ("127.20.0.1", "127.20.199.9", "127.250.201.6"):
        try:
            socket.create_server((address, 0)).close()
        except OSError as error:
            raise Unavailable(f"cannot listen on {address}: {error.strerror}") from None
    return "listened on 127.20.0.1, 127.20.199.9 and 127.250.201.6"


def socket_tables() -> str:
    """Find a connection of this process in the kernel's table, as the audit of links does."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        mine = client.getsockname()
        if not any(connection.local == mine for connection in sockets_of(os.getpid())):
            raise Unavailable("an open connection was not found in the socket table")
    return "found a connection of its own by process id"
