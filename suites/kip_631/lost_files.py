"""A controller that lost a file on which what it promised the others depends: it says so, and does not start."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.kip_631.snapshots import SETTINGS, topics

REFUSED_WITHIN_MS = 10_000
"""Long enough to start or to refuse to, and to say so in the log."""


@v.scenario("lost-vote", "A controller that lost its vote and not its log does not start", seconds=12)
def vote(draft: v.Draft) -> v.Plan:
    """It may have voted in an epoch of which it knows nothing any more (KAFKA-12181)."""
    voter = _voter(draft.seed)
    started: list[v.Step] = [
        v.NodeExited(as_="gone", node=voter, within_ms=REFUSED_WITHIN_MS),
        v.Start(as_="start-without", nodes=voter, until="running"),
        v.NodeExited(
            as_="ends",
            node=voter,
            within_ms=REFUSED_WITHIN_MS,
            expect=draft.target.unless("AK-16", v.must("CTRL-07"), v.never("CTRL-07")),
        ),
    ]
    says = "quorum-state is missing" if draft.target.follows_its_documents else None
    return _plan(draft, [], "quorum-state", started, says, "CTRL-07")


@v.scenario(
    "lost-snapshots",
    "A controller whose log begins behind snapshots that it lost does not start",
    seconds=15,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def snapshots(draft: v.Draft) -> v.Plan:
    """Its log is cut behind the older of two snapshots, and both are lost (KAFKA-14240)."""
    leader = draft.roles[0]
    voter = _voter(draft.seed)
    steps = [
        *topics("first", leader),
        v.Logged(as_="written", node=voter, says="wrote the snapshot at"),
        *topics("second", leader),
        v.Logged(as_="written-again", node=voter, says="wrote the snapshot at", after=v.After(event="written.ended")),
        # Records that came while the first snapshot was written are in the log's first segment, which the second one
        # may leave whole: a third one does not.
        *topics("third", leader),
        v.Logged(as_="cut", node=voter, says=r"is cut behind .* begins at [1-9]"),
    ]
    return _plan(draft, steps, "*.checkpoint", [], "no snapshot is good", "D631-29")


def _plan(
    draft: v.Draft, first: list[v.Step], file: str, without: list[v.Step], says: str | None, requirement: str
) -> v.Plan:
    """The controller is killed, loses the file, refuses to start, and has the file again.

    `without`: further steps before it is healed; `says`: the line of its log about the file, if it is known.
    """
    leader = draft.leader
    voter = _voter(draft.seed)
    steps: list[v.Step] = [
        *first,
        v.inject("forget", v.DamagedFileParameters(node=voter, file=file, damage="lost")),
        v.ActiveController(as_="elected", is_not=voter, expect=v.must("LIVE-02")),
        *without,
        v.Heal(as_="return", fault="forget"),
        *([] if says is None else [_said(voter, says, requirement)]),
        v.TopicCreatedThrough(as_="goes-on", node=leader, expect=v.must("LIVE-02")),
    ]
    return draft.plan(steps, v.acknowledged("return.ended"), settings=SETTINGS if first else None)


def _said(voter: str, says: str, requirement: str) -> v.Step:
    return v.Logged(
        as_="refuses",
        node=voter,
        says=says,
        after=v.After(event="forget.proven"),
        within_ms=REFUSED_WITHIN_MS,
        expect=v.must(requirement),
    )


def _voter(seed: int) -> str:
    return v.node_name(v.CONTROLLER_IDS[seed % len(v.CONTROLLER_IDS)])
