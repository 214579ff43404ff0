"""A controller takes the place of another while brokers and clients go on."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

BROKERS = tuple(map(v.node_name, v.BROKER_IDS))
JOINER = v.node_name(v.JOINER_ID)
LEASE_MS = 4000
"""Long enough for leases to outlive an election on a busy machine."""
USURPED_MS = 3000
"""Longer than a voter waits for its leader before it stands for election."""


@v.scenario(
    "controller-replaced",
    "All controllers of the first quorum are replaced, one after the other, while brokers run",
    seconds=15,
    levels=(v.DYNAMIC,),
)
def replaced(draft: v.Draft) -> v.Plan:
    """A fourth controller becomes a voter; one of the first three dies; all three are removed, the active one as well.

    At the end no controller that a broker's file names is needed: the other two of them die, too.

    Where voters have directories, the first to leave dies when it has no vote any more: what a change does while a
    voter is away is left to random plans there.
    """
    lost = v.CONTROLLER_IDS[draft.seed % len(v.CONTROLLER_IDS)]
    others = [controller for controller in v.CONTROLLER_IDS if controller != lost]
    with_directories = draft.scenario.level(draft.target) == v.DYNAMIC
    dead = v.inject("dead", v.KillParameters(nodes=v.node_name(lost), back="running"))
    removed = [
        v.voter_removed(
            f"removed-{id}", id, directory=f"$directory-{id}" if with_directories else None, expect=_committed()
        )
        for id in (lost, *others)
    ]
    first: list[v.Step] = [removed[0], dead] if with_directories else [dead, removed[0]]
    known = [*(v.directory_bound(id) for id in v.CONTROLLER_IDS), v.directory_bound(v.JOINER_ID, voter=False)]
    steps: list[v.Step] = [
        v.Start(as_="joins", nodes=JOINER),
        *(known if with_directories else ()),
        v.voter_added(
            "added",
            v.JOINER_ID,
            JOINER,
            directory=f"$directory-{v.JOINER_ID}" if with_directories else None,
            expect=_committed(),
        ),
        *first,
        *removed[1:],
        v.ActiveController(as_="elected", is_=JOINER, expect=v.must("LIVE-02", "K631-06", "K631-13")),
        # The other two run on without a vote, and the one that has it sleeps.
        v.inject("asleep", v.PauseParameters(nodes=JOINER)),
        v.ActiveController(as_="usurped", is_not=JOINER, within_ms=USURPED_MS, expect=v.never("K631-02")),
        v.Heal(as_="awake", fault="asleep"),
        v.inject("gone", v.KillParameters(nodes=tuple(map(v.node_name, others)), back="running")),
        # The files of the brokers do not name the fourth controller.
        *(
            v.TopicCreatedThrough(as_=f"through-{broker}", node=broker, expect=v.must("K631-06", "K631-05", "LIVE-02"))
            for broker in BROKERS
        ),
        v.goes_on(),
    ]
    return draft.timed(lease_ms=LEASE_MS).plan(
        steps, "elected", v.acknowledged("elected.ended"), topology=v.growing_cluster()
    )


def _committed() -> v.ExpectOutcome:
    return v.serves("K631-06")
