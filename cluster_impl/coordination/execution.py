"""The driver that executes the steps of a core on ZooKeeper, within one session.

Many writes travel in one multi. If one of them is refused, the writes of that multi are executed again one by one, so
that each gets the outcome that it would have had alone. A guard, which checks the version of a znode, stands in front
of each write, so that nothing is written any more once that znode has changed.

Where the connection breaks, the fate of the pending operations is unknown. They are executed again once the session is
connected. A refusal may then come from the operation's own first execution: the znode is read, and if it is as this
write would have left it, the write counts as done. The steps end with the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import groupby
from typing import TypeVar

from fencepost.cluster_impl.coordination import errors
from fencepost.cluster_impl.coordination.steps import (
    ANY_VERSION,
    Absent,
    BadVersion,
    Children,
    Create,
    Created,
    Delete,
    Done,
    Exists,
    Found,
    Get,
    Names,
    NodeExists,
    NotEmpty,
    Operation,
    Outcome,
    Present,
    Read,
    SetData,
    Stat,
    Steps,
    Write,
)
from fencepost.cluster_impl.coordination.znodes import Check, MultiResult, Watch
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper

T = TypeVar("T")

MAX_WRITES = 200
MAX_BYTES = 400_000
"""Limit of one multi. ZooKeeper closes connections that exceed jute.maxbuffer (1 MB)."""

MAX_READS = 100
"""Limit of one request for the data of several znodes."""

_OVERHEAD_BYTES = 100
"""The size of a write without its data, for a path of ordinary length."""


class _Kind(Enum):
    """The kinds of operations that travel together."""

    GETS = "data, unwatched"
    READS = "other reads"
    WRITES = "writes"


class GuardFailed(errors.CoordinationError):
    """The guarding znode has another version, so this core may not write any more."""


class Execution:
    """Executes steps in the session that is open when it is made. Several steps may run side by side.

    `watch` is called once for each znode that was read with a watch, when the znode changes.
    """

    def __init__(self, zookeeper: ZooKeeper, watch: Watch, guard: Check | None = None) -> None:
        self._zookeeper = zookeeper
        self._session_id = zookeeper.session_id
        self._guard = guard
        self._watch = watch
        self._wanted: list[tuple[str, asyncio.Future[Outcome]]] = []
        """The data to read in this turn of the event loop, for all steps: one request costs a tenth of single ones."""
        self._reading: set[asyncio.Task[None]] = set()

    async def run(self, steps: Steps[T]) -> T:
        """Execute the steps and return their result.

        Raises SessionExpired or GuardFailed, after it has closed the steps, when they may not write any more.
        """
        try:
            batch = next(steps)
            while True:
                batch = steps.send(await self._execute(batch))
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    async def _execute(self, batch: Sequence[Operation]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for kind, group in groupby(batch, _kind):
            operations = list(group)
            if kind is _Kind.WRITES:
                for pack in packs(operation for operation in operations if isinstance(operation, Write)):
                    outcomes += await self._write(pack)
                continue
            # Side by side, since no write stands between them. A watch is set before the reads behind it.
            if kind is _Kind.GETS:
                outcomes += await asyncio.gather(*(self._get(operation.path) for operation in operations))
            else:
                outcomes += await asyncio.gather(
                    *(self._read(operation) for operation in operations if isinstance(operation, Read))
                )
        return outcomes

    def _get(self, path: str) -> asyncio.Future[Outcome]:
        loop = asyncio.get_running_loop()
        if not self._wanted:
            loop.call_soon(self._get_wanted)
        answer: asyncio.Future[Outcome] = loop.create_future()
        self._wanted.append((path, answer))
        return answer

    def _get_wanted(self) -> None:
        wanted, self._wanted = self._wanted, []
        for at in range(0, len(wanted), MAX_READS):
            task = asyncio.create_task(self._get_many(wanted[at : at + MAX_READS]))
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def _get_many(self, reads: Sequence[tuple[str, asyncio.Future[Outcome]]]) -> None:
        waiting = [(path, answer) for path, answer in reads if not answer.done()]  # a cancelled one needs no answer
        if not waiting:
            return
        try:
            znodes = await self._surely(lambda: self._zookeeper.get_many([path for path, _ in waiting]))
        except errors.CoordinationError as error:
            for _, answer in waiting:
                if not answer.done():
                    answer.set_exception(error)
            return
        for (_, answer), znode in zip(waiting, znodes, strict=True):
            if not answer.done():
                answer.set_result(Absent() if znode is None else Found(znode.data, self._stat(znode.stat)))

    async def _read(self, operation: Read) -> Outcome:
        watch = self._watch if operation.watch else None
        try:
            match operation:
                case Get(path):
                    znode = await self._surely(lambda: self._zookeeper.get(path, watch))
                    return Found(znode.data, self._stat(znode.stat))
                case Children(path):
                    return Names(await self._surely(lambda: self._zookeeper.children(path, watch)))
                case Exists(path):
                    stat = await self._surely(lambda: self._zookeeper.exists(path, watch))
                    return Present(self._stat(stat)) if stat is not None else Absent()
        except errors.NoNodeError:
            return Absent()

    async def _write(self, pack: Sequence[Write], in_doubt: bool = False) -> list[Outcome]:
        """Execute writes, and again after each lost connection. `in_doubt`: they may have been executed before."""
        while True:
            self._check_session()
            try:
                return await self._attempt(pack)
            except errors.ConnectionLost as lost:
                in_doubt |= lost.in_doubt
                await self._reconnected()
                if lost.in_doubt and await self._is_gone_anyway(pack):
                    return [Done()]
            except (
                errors.NoNodeError,
                errors.NodeExistsError,
                errors.BadVersionError,
                errors.NotEmptyError,
            ) as refusal:
                if self._guard is not None and refusal.index == 0:
                    raise GuardFailed(str(refusal), refusal.path) from refusal
                if len(pack) > 1:
                    alone = await asyncio.gather(*(self._write([write], in_doubt) for write in pack))
                    return [outcome for [outcome] in alone]
                return [await self._refused(pack[0], refusal, in_doubt)]

    async def _attempt(self, pack: Sequence[Write]) -> list[Outcome]:
        if self._guard is not None:
            results = await self._zookeeper.multi([self._guard, *pack])
            return [_done(write, result) for write, result in zip(pack, results[1:], strict=True)]
        if len(pack) > 1:
            results = await self._zookeeper.multi(pack)
            return [_done(write, result) for write, result in zip(pack, results, strict=True)]
        match pack[0]:
            case Create(path, data, ephemeral, sequence):
                made = await self._zookeeper.create(path, data, ephemeral=ephemeral, sequence=sequence)
                return [Created(path=made.path, stat=self._stat(made.stat)) if ephemeral or sequence else Done()]
            case SetData(path, data, version):
                return [Done((await self._zookeeper.set(path, data, version)).version)]
            case Delete(path, version):
                await self._zookeeper.delete(path, version)
                return [Done()]

    async def _is_gone_anyway(self, pack: Sequence[Write]) -> bool:
        """Return True if the znode at this path is not the one to be deleted, so that one is gone.

        An ephemeral znode of another session is not, nor is one that was created later, even at the named version. A
        second execution would delete it.
        """
        [write, *others] = pack
        if others or not isinstance(write, Delete):
            return False
        await self._surely(self._zookeeper.sync)
        stat = await self._surely(lambda: self._zookeeper.exists(write.path))
        if stat is None:
            return False
        return write.czxid not in (None, stat.czxid) or stat.ephemeral_owner not in (0, self._session_id)

    async def _refused(self, write: Write, refusal: errors.CoordinationError, in_doubt: bool) -> Outcome:
        """Return the outcome of a refused write; one in doubt may be refused because it had succeeded."""
        if in_doubt:
            await self._surely(self._zookeeper.sync)  # this server may lag behind the one that took the first execution
            found = await self._read(Get(write.path))
            if took_effect(write, found):
                return _found_done(write, found)
        match refusal:
            case errors.NodeExistsError():
                return NodeExists()
            case errors.BadVersionError():
                return BadVersion()
            case errors.NotEmptyError():
                return NotEmpty()
            case _:
                return Absent()

    async def _surely(self, read: Callable[[], Awaitable[T]]) -> T:
        while True:
            self._check_session()
            try:
                return await read()
            except errors.ConnectionLost:
                await self._reconnected()

    async def _reconnected(self) -> None:
        """Wait for the connection. Raises SessionExpired if it belongs to another session."""
        await self._zookeeper.until_connected()
        self._check_session()

    def _check_session(self) -> None:
        """Raise SessionExpired in another session: steps that began in one session are not executed in another."""
        if self._zookeeper.session_id != self._session_id:
            raise errors.SessionExpired("the session in which these steps began is over")

    def _stat(self, stat: Stat) -> Stat:
        return replace(stat, is_own=True) if stat.ephemeral_owner == self._session_id else stat


def _kind(operation: Operation) -> _Kind:
    match operation:
        case Get(_, watch):
            return _Kind.READS if watch else _Kind.GETS
        case Children() | Exists():
            return _Kind.READS
        case _:
            return _Kind.WRITES


def packs(writes: Iterable[Write]) -> Iterator[list[Write]]:
    """Yield the writes in their order, as many together as a multi may hold.

    A write that is larger than a multi goes alone, and so does an ephemeral Create: its outcome has a stat, which the
    results of a multi do not contain.
    """
    pack: list[Write] = []
    size = 0
    for write in writes:
        its_size = _OVERHEAD_BYTES + (0 if isinstance(write, Delete) else len(write.data))
        goes_alone = isinstance(write, Create) and write.ephemeral
        if pack and (len(pack) == MAX_WRITES or size + its_size > MAX_BYTES or goes_alone):
            yield pack
            pack, size = [], 0
        pack.append(write)
        size = MAX_BYTES if goes_alone else size + its_size
    if pack:
        yield pack


def took_effect(write: Write, now: Outcome) -> bool:
    """Return True if the znode is as this write would have left it."""
    match write:
        case Create(_, data, ephemeral):
            is_as_made = isinstance(now, Found) and now.data == data and now.stat.version == 0
            return is_as_made and isinstance(now, Found) and (now.stat.is_own or not ephemeral)
        case SetData(_, data, version):
            is_next = isinstance(now, Found) and version in (ANY_VERSION, now.stat.version - 1)
            return is_next and isinstance(now, Found) and now.data == data
        case Delete():
            return isinstance(now, Absent)


def _found_done(write: Write, found: Outcome) -> Done:
    """Return the outcome of a write that took effect although its answer was lost."""
    if not isinstance(found, Found):
        return Done()
    if isinstance(write, Create) and write.ephemeral:
        return Created(path=write.path, stat=found.stat)
    return Done(found.stat.version)


def _done(write: Write, result: MultiResult) -> Done:
    if isinstance(write, Create) and write.sequence:
        return Created(path=str(result))
    return Done(result.version if isinstance(result, Stat) else 0)
