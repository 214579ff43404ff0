"""Runs the steps of a core on ZooKeeper, within one session.

Many writes travel in one multi; when one of them is refused, the writes of that multi are executed again one by one, so
that every one of them gets the outcome it would have had alone. With a guard, a check of a znode's version, each write
travels behind it, and nothing is written any more once that znode has changed.

Where the connection breaks, the fate of what was under way is unknown. It is executed again once the session is
connected; a refusal may then come from its own first execution, so the znode is read, and if it is as this write would
have left it, the write is taken as done. When the session is over, so are the steps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from enum import Enum
from itertools import groupby
from typing import TypeVar

from cluster_impl.coordination import errors
from cluster_impl.coordination import znodes as zk
from cluster_impl.coordination.steps import (
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
from cluster_impl.coordination.zookeeper import ZooKeeper

T = TypeVar("T")

MAX_WRITES = 200
MAX_BYTES = 400_000
"""Of one multi. The servers close the connection of who sends more than a megabyte."""

MAX_READS = 100
"""Of one request for the data of several znodes."""

_OVERHEAD_BYTES = 100
"""What a write takes beside its data, with a path of ordinary length."""


class _Kind(Enum):
    """What travels together."""

    GETS = "data, unwatched"
    READS = "other reads"
    WRITES = "writes"


class GuardFailed(errors.CoordinationError):
    """The guarding znode has another version: whoever asks may not write any more."""


class Execution:
    """Of the session that is open when it is made. `watch` is told of every znode that was read with a watch, once,
    when it changes. Steps may run side by side."""

    def __init__(self, zookeeper: ZooKeeper, watch: zk.Watch, guard: zk.Check | None = None) -> None:
        self._zookeeper = zookeeper
        self._session_id = zookeeper.session_id
        self._guard = guard
        self._watch = watch
        self._wanted: list[tuple[str, asyncio.Future[Outcome]]] = []
        """Data that is to be read in this turn of the loop, by whichever steps: together it costs a tenth."""
        self._reading: set[asyncio.Task[None]] = set()

    async def run(self, steps: Steps[T]) -> T:
        """Raises SessionExpired or GuardFailed when there is nothing to be written any more; the steps are closed
        then."""
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
                for pack in packs(each for each in operations if isinstance(each, Write)):
                    outcomes += await self._write(pack)
                continue
            # Side by side, since nothing is written between them. A watch is set before what comes behind it is read.
            if kind is _Kind.GETS:
                outcomes += await asyncio.gather(*(self._get(each.path) for each in operations))
            else:
                outcomes += await asyncio.gather(*(self._read(each) for each in operations if isinstance(each, Read)))
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

    async def _get_many(self, wanted: Sequence[tuple[str, asyncio.Future[Outcome]]]) -> None:
        waiting = [(path, answer) for path, answer in wanted if not answer.done()]  # else whoever asked has left
        if not waiting:
            return
        try:
            found = await self._surely(lambda: self._zookeeper.get_many([path for path, _ in waiting]))
        except errors.CoordinationError as error:
            for _, answer in waiting:
                if not answer.done():
                    answer.set_exception(error)
            return
        for (_, answer), znode in zip(waiting, found, strict=True):
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
        except errors.NoNode:
            return Absent()

    async def _write(self, pack: Sequence[Write], in_doubt: bool = False) -> list[Outcome]:
        """`in_doubt`: the writes may have been executed before."""
        while True:
            self._check_session()
            try:
                return await self._attempt(pack)
            except errors.ConnectionLost as lost:
                in_doubt |= lost.in_doubt
                await self._reconnected()
                if lost.in_doubt and await self._is_gone_anyway(pack):
                    return [Done()]
            except (errors.NoNode, errors.NodeExists, errors.BadVersion, errors.NotEmpty) as refusal:
                if self._guard is not None and refusal.index == 0:
                    raise GuardFailed(str(refusal), refusal.path) from refusal
                if len(pack) > 1:
                    alone = await asyncio.gather(*(self._write([each], in_doubt) for each in pack))
                    return [outcome for [outcome] in alone]
                return [await self._refused(pack[0], refusal, in_doubt)]

    async def _attempt(self, pack: Sequence[Write]) -> list[Outcome]:
        if self._guard is not None:
            results = await self._zookeeper.multi([self._guard, *map(_multi_operation, pack)])
            return [_done(write, result) for write, result in zip(pack, results[1:], strict=True)]
        if len(pack) > 1:
            results = await self._zookeeper.multi([*map(_multi_operation, pack)])
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
        """Whether what was to be deleted went with that: an ephemeral znode of another session is another's, and so is
        one that was made later, even if it has the version that was named. A second execution would delete it."""
        [write, *others] = pack
        if others or not isinstance(write, Delete):
            return False
        await self._surely(self._zookeeper.sync)
        stat = await self._surely(lambda: self._zookeeper.exists(write.path))
        if stat is None:
            return False
        return write.czxid not in (None, stat.czxid) or stat.ephemeral_owner not in (0, self._session_id)

    async def _refused(self, write: Write, refusal: errors.CoordinationError, in_doubt: bool) -> Outcome:
        """The outcome of a write that was refused; if it was in doubt before, maybe by its own success."""
        if in_doubt:
            await self._surely(self._zookeeper.sync)  # this server may lag behind the one that took the first execution
            found = await self._read(Get(write.path))
            if came_true(write, found):
                return _found_done(write, found)
        match refusal:
            case errors.NodeExists():
                return NodeExists()
            case errors.BadVersion():
                return BadVersion()
            case errors.NotEmpty():
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
        """Raises SessionExpired if it is another session by then."""
        await self._zookeeper.until_connected()
        self._check_session()

    def _check_session(self) -> None:
        """Nothing that was begun in one session is sent in another one."""
        if self._zookeeper.session_id != self._session_id:
            raise errors.SessionExpired("the session in which this was begun is over")

    def _stat(self, stat: zk.Stat) -> Stat:
        return Stat(
            stat.version,
            stat.czxid,
            stat.mzxid,
            is_own=stat.ephemeral_owner == self._session_id,
            children=stat.children,
        )


def _kind(operation: Operation) -> _Kind:
    match operation:
        case Get(_, watch):
            return _Kind.READS if watch else _Kind.GETS
        case Children() | Exists():
            return _Kind.READS
        case _:
            return _Kind.WRITES


def packs(writes: Iterable[Write]) -> Iterator[list[Write]]:
    """In their order, as many together as a multi may hold; one that is larger than that goes alone, and so does an
    ephemeral one, whose outcome is more than a multi tells."""
    pack: list[Write] = []
    size = 0
    for write in writes:
        its_size = _OVERHEAD_BYTES + (0 if isinstance(write, Delete) else len(write.data))
        is_told_more = isinstance(write, Create) and write.ephemeral
        if pack and (len(pack) == MAX_WRITES or size + its_size > MAX_BYTES or is_told_more):
            yield pack
            pack, size = [], 0
        pack.append(write)
        size = MAX_BYTES if is_told_more else size + its_size
    if pack:
        yield pack


def came_true(write: Write, now: Outcome) -> bool:
    """Whether the znode is as this write would have left it."""
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
    """The outcome of a write that came true when its answer was lost."""
    if not isinstance(found, Found):
        return Done()
    if isinstance(write, Create) and write.ephemeral:
        return Created(path=write.path, stat=found.stat)
    return Done(found.stat.version)


def _multi_operation(write: Write) -> zk.MultiOperation:
    match write:
        case Create(path, data, ephemeral, sequence):
            return zk.Create(path, data, ephemeral, sequence)
        case SetData(path, data, version):
            return zk.Set(path, data, version)
        case Delete(path, version):
            return zk.Delete(path, version)


def _done(write: Write, result: zk.MultiResult) -> Done:
    if isinstance(write, Create) and write.sequence:
        return Created(path=str(result))
    return Done(result.version if isinstance(result, zk.Stat) else 0)
