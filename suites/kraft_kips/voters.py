"""Voters of the metadata quorum are added, removed, refused, and join by themselves (KIP-853, KIP-1186).

No voter is away while another one is added or removed: that is left to random plans.
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.suites import vocabulary as v

BROKERS = tuple(map(v.node_name, v.BROKER_IDS))
FIRST, SECOND, THIRD = map(v.node_name, v.CONTROLLER_IDS)
JOINER = v.node_name(v.JOINER_ID)
LEASE_MS = 4000
"""Long enough for leases to outlive an election on a busy machine."""
USURPED_MS = 3000
"""Longer than a voter waits for its leader before it stands for election."""
LOST_MS = 8000
"""Longer than a broker waits before it looks for a leader."""
ABSENT_ID = 9
"""The id of a controller that does not run."""
ABSENT_DIRECTORY = "00000000-0000-4000-8000-0000000000ff"
ABSENT_MS = 1000
"""The time that a controller which does not run is given to catch up."""
OTHER_CLUSTER = "AAAAAAAAAAAAAAAAAAAAAA"
INCONSISTENT_CLUSTER_ID, REQUEST_TIMED_OUT, DUPLICATE_VOTER, VOTER_NOT_FOUND = (
    f"error:{code}" for code in (104, 7, 126, 127)
)


@v.kraft_scenario(
    "quorum-grown",
    "A quorum of one controller grows to three, and goes on without the first",
    seconds=35,
    document="KIP-853",
    dialects=v.WITHOUT_ZOOKEEPER,
    levels=(v.DYNAMIC,),
)
def grown(draft: v.Draft) -> v.Plan:
    """One controller begins the cluster and two join it, which cannot reach each other; then the first one dies.

    The files of the brokers name the first one only. Where they look for a new leader there alone (AK-17), they are
    without one until the first is back.
    """
    target = draft.target
    leader, *followers = draft.roles
    steps: list[v.Step] = [
        v.Start(as_="joins", nodes=(SECOND, THIRD)),
        *(step for id in (2, 3) for step in _known(target, id, voter=False)),
        *_added(target),
        v.inject("dead", v.KillParameters(nodes=FIRST)),
        v.ActiveController(as_="elected", is_not=FIRST, expect=v.must("K853-05", "LIVE-02")),
        *_found(target),
        v.Heal(as_="back", fault="dead"),
        *_serves("K853-06", again="-then"),
        _voters(target, "all", v.CONTROLLER_IDS, "K853-06"),
        # A majority needs the first one again.
        v.inject("next", v.KillParameters(nodes=SECOND)),
        *_serves("K853-06", again="-again"),
    ]
    return _plan(draft, [leader, *followers], v.quorum_of_one(), steps, "apart", "dead", "next")


@v.kraft_scenario(
    "active-controller-removed",
    "The active controller loses its vote, never leads without it, and gets it again",
    seconds=35,
    document="KIP-853",
    dialects=v.WITHOUT_ZOOKEEPER,
    levels=(v.DYNAMIC,),
)
def leader_removed(draft: v.Draft) -> v.Plan:
    """The active controller is removed: it leads no more. Cut off and back, killed and back, it stays without a vote.

    The first controller is active for certain once the two others were removed and added again. At the end it gets its
    vote back, and the quorum needs it.
    """
    target = draft.target
    leader, *followers = draft.roles
    steps: list[v.Step] = [
        *(step for id in v.CONTROLLER_IDS for step in _known(target, id)),
        *(_removed(target, id) for id in (2, 3)),
        v.ActiveController(as_="alone", is_=FIRST, expect=v.must("K853-03", "LIVE-02")),
        *_added(target),
        _removed(target, 1),
        v.ActiveController(as_="elected", is_not=FIRST, expect=v.must("K853-03", "LIVE-02")),
        v.inject("cut", v.IsolateParameters(nodes=FIRST, from_=(SECOND, THIRD))),
        v.ActiveController(as_="usurped", is_=FIRST, within_ms=USURPED_MS, expect=v.never("K853-04")),
        v.Heal(as_="mended", fault="cut"),
        v.inject("dead", v.KillParameters(nodes=FIRST)),
        *_serves("K853-03"),
        v.Heal(as_="back", fault="dead"),
        _voters(target, "two", (2, 3), "K853-04"),
        v.voter_added("added-again", 1, FIRST, directory=_directory(target, 1), expect=v.serves("K853-01")),
        _voters(target, "all", v.CONTROLLER_IDS, "K853-01"),
        v.inject("next", v.KillParameters(nodes=SECOND)),
        *_serves("K853-06", again="-again"),
    ]
    topology = v.quorum_cluster()
    return _plan(draft, [leader, *followers], topology, steps, "apart", "cut", "dead", "next")


@v.kraft_scenario(
    "voters-refused",
    "A change of voters that must not be made is refused by its error and changes nothing",
    seconds=20,
    document="KIP-853",
    dialects=v.WITHOUT_ZOOKEEPER,
    levels=(v.DYNAMIC,),
)
def refused(draft: v.Draft) -> v.Plan:
    """Changes that must not be made are refused, each by its error, and change nothing; also by the next leader."""
    target = draft.target
    leader, *followers = draft.roles
    steps: list[v.Step] = [
        *(step for id in v.CONTROLLER_IDS for step in _known(target, id)),
        *_refused(target, "first"),
        v.Bind(as_="old", node="active-controller"),
        v.inject("dead", v.KillParameters(nodes="$old")),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("LIVE-02")),
        v.Heal(as_="back", fault="dead"),
        *_refused(target, "second"),
    ]
    return _plan(draft, [leader, *followers], v.quorum_cluster(), steps, "dead")


@v.kraft_scenario(
    "voters-join",
    "A controller gets a vote by itself, and again after it was removed",
    seconds=25,
    document="KIP-1186",
    levels=(v.DYNAMIC,),
    features={"auto-join"},
)
def joining(draft: v.Draft) -> v.Plan:
    """A controller starts and votes without a request; it is removed while it runs, and votes again.

    It comes back with its vote after a crash. Two of the first three are then cut off: without its vote none leads.
    """
    target = draft.target
    leader, *followers = draft.roles
    four = (*v.CONTROLLER_IDS, v.JOINER_ID)
    steps: list[v.Step] = [
        v.Start(as_="joins", nodes=JOINER),
        _voters(target, "joined", four, "K1186-01"),
        *_known(target, v.JOINER_ID),
        _removed(target, v.JOINER_ID),
        _voters(target, "returned", four, "K1186-02"),
        v.inject("dead", v.KillParameters(nodes=JOINER)),
        v.WorkloadAcks(as_="meanwhile", more=20, expect=v.must("LIVE-03")),
        v.Heal(as_="back", fault="dead"),
        _voters(target, "kept", four, "K853-06"),
        v.inject("away", v.KillParameters(nodes=v.node_name(v.CONTROLLER_IDS[draft.seed % 3]))),
        *_serves("K1186-01"),
    ]
    settings = v.NodeSettings(controller={"controller.quorum.auto.join.enable": "true"})
    topology = v.growing_cluster()
    return _plan(draft, [leader, *followers], topology, steps, "dead", "away", settings=settings)


def _added(target: v.TargetFacts) -> list[v.Step]:
    """Give the second and third controller votes while they cannot reach each other."""
    return [
        v.inject("apart", v.IsolateParameters(nodes=SECOND, from_=THIRD)),
        *(
            v.voter_added(
                f"added-{id}", id, v.node_name(id), directory=_directory(target, id), expect=v.serves("K853-01")
            )
            for id in (2, 3)
        ),
        v.Heal(as_="together", fault="apart"),
        _voters(target, "three", v.CONTROLLER_IDS, "K853-01"),
    ]


def _removed(target: v.TargetFacts, id: int) -> v.ApiProbe:
    return v.voter_removed(f"removed-{id}", id, directory=_directory(target, id), expect=v.serves("K853-03"))


def _refused(target: v.TargetFacts, when: str) -> list[v.Step]:
    """Ask for what is refused, and then for the voters."""

    own = _directory(target, 1)
    steps: list[v.Step] = [
        v.voter_added(f"{when}-twice", 1, FIRST, directory=own, expect=v.answers("K853-02", DUPLICATE_VOTER)),
        v.voter_added(
            f"{when}-absent",
            ABSENT_ID,
            JOINER,
            directory=ABSENT_DIRECTORY,
            change_ms=ABSENT_MS,
            expect=v.answers("K853-02", REQUEST_TIMED_OUT),
        ),
        _not_removed(f"{when}-no-voter", ABSENT_ID, ABSENT_DIRECTORY, VOTER_NOT_FOUND),
        _not_removed(f"{when}-foreign", 1, own, INCONSISTENT_CLUSTER_ID, cluster=OTHER_CLUSTER),
    ]
    if own is not None:
        # The id of a voter with the directory of another one.
        steps.append(_not_removed(f"{when}-other-directory", 1, "$directory-2", VOTER_NOT_FOUND))
    return [*steps, _voters(target, f"{when}-same", v.CONTROLLER_IDS, "K853-02")]


def _not_removed(as_: str, id: int, directory: str | None, error: str, cluster: str | None = None) -> v.ApiProbe:
    return v.voter_removed(as_, id, directory=directory, cluster=cluster, expect=v.answers("K853-02", error))


def _known(target: v.TargetFacts, id: int, *, voter: bool = True) -> list[v.ApiProbe]:
    """Bind the id of a controller's directory, in a design that has one."""
    return [v.directory_bound(id, voter=voter)] if target.dialect in v.SHIPPED_QUORUM else []


def _directory(target: v.TargetFacts, id: int) -> str | None:
    return f"$directory-{id}" if target.dialect in v.SHIPPED_QUORUM else None


def _voters(target: v.TargetFacts, as_: str, ids: Collection[int], requirement: str) -> v.ApiProbe:
    """Await that these controllers vote, and no others."""
    return v.described_quorum(
        as_,
        draft=target.dialect not in v.SHIPPED_QUORUM,
        answer={f"{v.QUORUM}.current_voters[].replica_id": sorted(ids)},
        expect=v.serves(requirement),
    )


def _found(target: v.TargetFacts) -> list[v.Step]:
    """Expect that brokers find the leader without the controller that their files name."""
    if not target.differs("AK-17"):
        return _serves("K631-06")
    lost = v.never("K631-06").model_copy(update={"difference": "AK-17"})
    return [v.TopicCreatedThrough(as_=f"lost-{BROKERS[0]}", node=BROKERS[0], within_ms=LOST_MS, expect=lost)]


def _serves(requirement: str, again: str = "") -> list[v.Step]:
    """Expect that every broker has a topic created."""
    return [
        v.TopicCreatedThrough(as_=f"through-{broker}{again}", node=broker, expect=v.must(requirement, "LIVE-02"))
        for broker in BROKERS
    ]


def _plan(
    draft: v.Draft,
    replicas: list[str],
    topology: v.Topology,
    steps: list[v.Step],
    *faults: str,
    settings: v.NodeSettings | None = None,
) -> v.Plan:
    return draft.timed(lease_ms=LEASE_MS).plan(
        steps, v.acknowledged(f"{faults[-1]}.proven"), topology=topology, topics=[v.topic(replicas)], settings=settings
    )
