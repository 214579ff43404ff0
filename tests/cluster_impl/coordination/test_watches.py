"""Every watch is called once, also for a change that happened while there was no connection."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.coordination.watches import ABSENT, Watched, WatchTable
from fencepost.cluster_impl.coordination.znodes import WatchEvent, WatchKind

pytestmark = pytest.mark.requirement("DINT-15")


def ignore(_: WatchEvent) -> None:
    pass


def ignore_too(_: WatchEvent) -> None:
    pass


def test_a_watch_is_called_once() -> None:
    table = WatchTable()
    table.arm(Watched.DATA, "/a", ignore, 7)
    changed = WatchEvent(WatchKind.CHANGED, "/a")
    assert table.fired(changed) == [ignore]
    assert table.fired(changed) == []
    assert len(table) == 0


def test_reading_twice_with_the_same_watch_is_one_watch() -> None:
    table = WatchTable()
    table.arm(Watched.DATA, "/a", ignore, 7)
    table.arm(Watched.DATA, "/a", ignore, 7)
    table.arm(Watched.DATA, "/a", ignore_too, 7)
    assert table.fired(WatchEvent(WatchKind.CHANGED, "/a")) == [ignore, ignore_too]


def test_each_event_calls_the_watches_of_its_kind() -> None:
    fired = {}
    for kind in (WatchKind.CREATED, WatchKind.CHANGED, WatchKind.CHILDREN, WatchKind.DELETED):
        table = WatchTable()
        table.arm(Watched.DATA, "/a", ignore, 7)
        table.arm(Watched.CHILDREN, "/a", ignore_too, 7)
        table.arm(Watched.DATA, "/b", ignore, 7)
        fired[kind] = table.fired(WatchEvent(kind, "/a"))
    assert fired == {
        WatchKind.CREATED: [ignore],
        WatchKind.CHANGED: [ignore],
        WatchKind.CHILDREN: [ignore_too],
        WatchKind.DELETED: [ignore, ignore_too],
    }


def test_after_a_reconnect_only_the_watches_of_changed_znodes_are_called() -> None:
    table = WatchTable()
    table.arm(Watched.DATA, "/same", ignore, 7)
    table.arm(Watched.DATA, "/changed", ignore, 7)
    assert set(table.to_read_again()) == {(Watched.DATA, "/same"), (Watched.DATA, "/changed")}
    assert table.read_again(Watched.DATA, "/same", 7) == []
    assert table.read_again(Watched.DATA, "/changed", 8) == [(ignore, WatchEvent(WatchKind.CHANGED, "/changed"))]
    assert table.to_read_again() == [(Watched.DATA, "/same")]


def test_a_reader_after_the_reconnect_is_not_notified_of_what_it_saw() -> None:
    table = WatchTable()
    table.arm(Watched.DATA, "/a", ignore, 7)
    table.arm(Watched.DATA, "/a", ignore_too, 9)
    assert table.read_again(Watched.DATA, "/a", 9) == [(ignore, WatchEvent(WatchKind.CHANGED, "/a"))]
    assert table.fired(WatchEvent(WatchKind.CHANGED, "/a")) == [ignore_too]


@pytest.mark.parametrize(
    ("watched", "seen", "now", "kind"),
    [
        (Watched.DATA, 7, ABSENT, WatchKind.DELETED),
        (Watched.DATA, ABSENT, 7, WatchKind.CREATED),
        (Watched.DATA, 7, 8, WatchKind.CHANGED),
        (Watched.CHILDREN, 7, ABSENT, WatchKind.DELETED),
        (Watched.CHILDREN, 7, 8, WatchKind.CHILDREN),
    ],
)
def test_a_missed_event_is_reported_with_its_kind(watched: Watched, seen: int, now: int, kind: WatchKind) -> None:
    table = WatchTable()
    table.arm(watched, "/a", ignore, seen)
    assert table.read_again(watched, "/a", now) == [(ignore, WatchEvent(kind, "/a"))]


def test_a_watch_that_is_forgotten_is_not_called() -> None:
    table = WatchTable()
    for watch in (ignore, ignore_too):
        table.arm(Watched.DATA, "/a", watch, 7)
    table.arm(Watched.CHILDREN, "/b", ignore, 7)
    table.forget(ignore)
    assert table.to_read_again() == [(Watched.DATA, "/a")]
    assert table.fired(WatchEvent(WatchKind.CHANGED, "/a")) == [ignore_too]


def test_at_the_end_of_a_session_every_watch_is_called_with_the_expiry() -> None:
    table = WatchTable()
    table.arm(Watched.DATA, "/a", ignore, 7)
    table.arm(Watched.CHILDREN, "/b", ignore_too, 7)
    assert table.end() == [
        (ignore, WatchEvent(WatchKind.EXPIRED, "/a")),
        (ignore_too, WatchEvent(WatchKind.EXPIRED, "/b")),
    ]
    assert len(table) == 0
