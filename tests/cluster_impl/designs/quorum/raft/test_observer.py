"""How a broker finds the active controller and follows it; the test plays the controllers."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fencepost.cluster_impl.config.quorum import QuorumConfig
from fencepost.cluster_impl.config.values import FIRST_ADDRESS, Voter
from fencepost.cluster_impl.designs.quorum.broker.finder import ControllerFinder
from fencepost.cluster_impl.designs.quorum.broker.link import ActiveControllerLink
from fencepost.cluster_impl.designs.quorum.raft.messages import (
    EpochEnd,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
)
from fencepost.cluster_impl.designs.quorum.raft.observer import MetadataGone, MetadataObserver
from fencepost.cluster_impl.designs.quorum.raft.snapshot_format import snapshot_parts
from fencepost.cluster_impl.designs.quorum.raft.translate import read_request, response_message
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.client import connector
from fencepost.cluster_impl.wire.codec import Buffer, Malformed, R, RequestMessage
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.hosts import Hosts
from fencepost.cluster_impl.wire.registry import QUORUM_CONTROLLER
from tests.cluster_impl.designs.quorum.raft.local_quorum import CLUSTER_ID, TIMEOUT_S, Quorum
from tests.waiting import until

VOTERS = tuple(Voter(node_id, "127.0.0.1", 9090 + node_id) for node_id in (1, 2, 3))


Answer = FetchResponse | FetchSnapshotResponse


def batch(offset: int, epoch: int, *values: bytes) -> bytes:
    return format_.build([(None, value, 0) for value in values], base_offset=offset, leader_epoch=epoch)


class Controllers:
    """Three controllers that answer by script: each call takes the next answer of the controller that it reaches."""

    def __init__(self, script: Iterator[tuple[int, Answer | Exception, Buffer]]) -> None:
        self.finder = ControllerFinder(VOTERS)
        self.asked: list[FetchRequest | FetchSnapshotRequest] = []
        self.script = list(script)
        self.done = asyncio.Event()

    @property
    def fetches(self) -> list[FetchRequest]:
        return [each for each in self.asked if isinstance(each, FetchRequest)]

    async def request(self, message: RequestMessage[R], version: int, timeout: float) -> tuple[int, R]:
        if not self.script:
            self.done.set()
            await asyncio.Event().wait()
        expected, answer, records = self.script.pop(0)
        asked = self.finder.candidate().id
        assert asked == expected
        request = read_request(message, version)
        assert isinstance(request, FetchRequest | FetchSnapshotRequest)
        self.asked.append(request)
        if isinstance(answer, Exception):
            self.finder.failed(asked)
            raise answer
        return asked, response_message(answer, version, records)  # type: ignore[return-value]  # it is what was asked for


def never_loaded(values: list[bytes], end_offset: int) -> None:
    raise AssertionError("there is no snapshot")


def follow(
    *script: tuple[int, Answer | Exception, Buffer],
    on_records: Callable[[list[tuple[int, bytes]]], None] = lambda _: None,
) -> tuple[Controllers, list[tuple[int, bytes]]]:
    """Follow until the script or the observer ends."""
    applied: list[tuple[int, bytes]] = []

    def apply(records: list[tuple[int, bytes]]) -> None:
        on_records(records)
        applied.extend(records)

    def loaded(values: list[bytes], end_offset: int) -> None:
        applied[:] = [(end_offset - 1, value) for value in values]

    async def scenario() -> Controllers:
        controllers = Controllers(iter(script))
        config = QuorumConfig(cluster_id=CLUSTER_ID, voters=tuple(VOTERS))
        observer = MetadataObserver(config, controllers, controllers.finder, apply, loaded)
        await observer.start()
        ends = [asyncio.ensure_future(observer.failed()), asyncio.ensure_future(controllers.done.wait())]
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            if end.done():
                end.result()
            end.cancel()
        await observer.close()
        return controllers

    return asyncio.run(scenario()), applied


def leads(epoch: int, leader: int, high_watermark: int = 0) -> FetchResponse:
    return FetchResponse(Error.NONE, epoch, leader, high_watermark)


def does_not_lead(epoch: int, leader: int | None) -> FetchResponse:
    return FetchResponse(Error.NOT_LEADER_OR_FOLLOWER, epoch, leader)


def test_it_applies_what_is_committed_in_order_and_goes_on_behind() -> None:
    control = format_.build([(b"\0\0\0\2", b"", 0)], base_offset=2, leader_epoch=5, control=True)
    controllers, applied = follow(
        (1, leads(5, 1, 2), batch(0, 4, b"a", b"b")),
        (1, leads(5, 1, 3), control),
        (1, leads(5, 1, 4), batch(3, 5, b"c")),
        (1, leads(5, 1, 4), b""),
    )
    assert applied == [(0, b"a"), (1, b"b"), (3, b"c")]
    assert [fetch.log_end for fetch in controllers.fetches] == [
        EpochEnd(0, 0),
        EpochEnd(4, 2),
        EpochEnd(5, 3),
        EpochEnd(5, 4),
    ]
    assert [fetch.epoch for fetch in controllers.fetches] == [-1, 5, 5, 5]


def test_it_goes_to_the_leader_that_a_controller_names() -> None:
    follow((1, does_not_lead(3, leader=3), b""), (3, leads(3, 3), b""))


@pytest.mark.parametrize(
    "answer", [does_not_lead(3, leader=None), ConnectionError("refused"), TimeoutError("stalled"), does_not_lead(3, 1)]
)
def test_it_asks_another_when_one_does_not_know_or_does_not_answer(answer: FetchResponse | Exception) -> None:
    follow((1, answer, b""), (2, leads(3, 2), b""))


def test_it_does_not_follow_a_leader_of_an_older_epoch() -> None:
    _, applied = follow(
        (1, does_not_lead(7, leader=2), b""),
        (2, leads(6, 2, 1), batch(0, 6, b"of a deposed leader")),
        (1, does_not_lead(7, leader=3), b""),
        (3, leads(7, 3, 1), batch(0, 7, b"a")),
    )
    assert applied == [(0, b"a")]


def test_it_takes_the_epoch_from_a_controller_that_refuses_an_old_one() -> None:
    controllers, _ = follow(
        (1, leads(3, 1), b""),
        (1, FetchResponse(Error.FENCED_LEADER_EPOCH, 4, 2), b""),
        (2, leads(4, 2), b""),
    )
    assert [fetch.epoch for fetch in controllers.fetches] == [-1, 3, 4]


@pytest.mark.parametrize(
    "records", [batch(5, 3, b"a hole"), batch(0, 3, b"torn")[:-1], batch(0, 3, b"x" * 9).replace(b"x", b"y")]
)
def test_what_is_damaged_or_leaves_a_hole_is_not_applied(records: bytes) -> None:
    _, applied = follow((1, leads(3, 1, 6), records), (2, leads(3, 2), b""))
    assert applied == []


@pytest.mark.parametrize(
    "answer",
    [FetchResponse(Error.NONE, 4, 1, 1, diverging=EpochEnd(2, 1)), FetchResponse(Error.OFFSET_OUT_OF_RANGE, 4, 1)],
)
def test_it_ends_when_the_leader_lacks_what_was_committed(answer: FetchResponse) -> None:
    with pytest.raises(MetadataGone, match="controller 1, leader of epoch 4, does not have the committed metadata"):
        follow((1, leads(3, 1, 2), batch(0, 3, b"a", b"b")), (1, answer, b""))


@pytest.mark.parametrize(
    "error", [Malformed("type 99 is unknown"), TimeoutError("the disk"), ConnectionError("the disk")]
)
def test_records_that_cannot_be_applied_end_it_and_are_not_passed_over(error: Exception) -> None:
    def refuse(records: list[tuple[int, bytes]]) -> None:
        raise error

    with pytest.raises(type(error), match=str(error)):
        follow((1, leads(3, 1, 2), batch(0, 3, b"a")), (1, leads(3, 1, 2), b""), on_records=refuse)


SNAPSHOT = EpochEnd(3, 40)
BYTES = b"".join(snapshot_parts(SNAPSHOT, [b"x", b"y"]))


def names_a_snapshot(snapshot: EpochEnd = SNAPSHOT) -> FetchResponse:
    return FetchResponse(Error.NONE, 5, 1, 42, snapshot=snapshot)


def part(begin: int, end: int, *, error: Error = Error.NONE, data: bytes = BYTES) -> FetchSnapshotResponse:
    return FetchSnapshotResponse(error, 5, 1, SNAPSHOT, len(data), begin, data[begin:end])


@pytest.mark.requirement("K631-23")
def test_behind_the_start_of_the_log_it_loads_a_snapshot_and_goes_on_behind_it() -> None:
    controllers, applied = follow(
        (1, names_a_snapshot(), b""),
        (1, part(0, 30), b""),
        (1, part(30, len(BYTES)), b""),
        (1, leads(5, 1, 42), batch(40, 5, b"z")),
    )
    assert applied == [(39, b"x"), (39, b"y"), (40, b"z")]
    assert [fetch.log_end for fetch in controllers.fetches] == [EpochEnd(0, 0), SNAPSHOT]


@pytest.mark.parametrize(
    "answer",
    [
        part(0, 30, error=Error.SNAPSHOT_NOT_FOUND),
        part(3, 30),
        part(0, 0),
        part(0, len(BYTES) - 1, data=BYTES[:-1]),
    ],
)
def test_a_snapshot_that_does_not_arrive_whole_is_fetched_again(answer: FetchSnapshotResponse) -> None:
    _, applied = follow(
        (1, names_a_snapshot(), b""),
        (1, answer, b""),
        (1, names_a_snapshot(), b""),
        (1, part(0, len(BYTES)), b""),
    )
    assert applied == [(39, b"x"), (39, b"y")]


def test_it_ends_when_a_leader_offers_a_snapshot_of_what_it_has_long_applied() -> None:
    with pytest.raises(MetadataGone, match="offers a snapshot that ends at 1"):
        follow((1, leads(5, 1, 2), batch(0, 3, b"a", b"b")), (1, names_a_snapshot(EpochEnd(1, 1)), b""))


@pytest.mark.integration
@pytest.mark.requirement("K631-05")
async def test_one_address_is_enough_to_start_and_to_go_on_without_that_controller(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        host, port = quorum.voters[1]
        finder = ControllerFinder([Voter(FIRST_ADDRESS, host, port, "CONTROLLER")])
        link = ActiveControllerLink(finder, connector(QUORUM_CONTROLLER, "broker-4", Hosts()), 5.0)
        applied: list[tuple[int, bytes]] = []
        observer = MetadataObserver(quorum.config(), link, finder, applied.extend, never_loaded)
        await observer.start()
        await quorum.commit(b"a")
        await until(lambda: len(applied) == 1, "the observer has the first record")
        await quorum.stop(1)
        await quorum.commit(b"b")
        await until(lambda: len(applied) == 2, "the observer goes on with the other controllers")
        await observer.close()
        link.close()


async def observers(quorum: Quorum) -> dict[int, int]:
    """Ask the leader which observers it knows; return the end of each one's log."""
    leader = (await quorum.leader()).leader_id
    assert leader is not None
    partition = m.DescribeQuorumRequest.PartitionData(partition_index=0)
    topic = m.DescribeQuorumRequest.TopicData(topic_name="__kafka_metadata", partitions=[partition])
    answer = await quorum.ask(leader, m.DescribeQuorumRequest(topics=[topic]), 2)
    return {each.replica_id: each.log_end_offset for each in answer.topics[0].partitions[0].observers}


@pytest.mark.integration
async def test_an_observer_follows_a_real_quorum_through_elections(tmp_path: Path) -> None:
    async with Quorum(tmp_path) as quorum:
        finder = ControllerFinder([Voter(node_id, *address) for node_id, address in quorum.voters.items()])
        link = ActiveControllerLink(finder, connector(QUORUM_CONTROLLER, "broker-4", Hosts()), 5.0)
        applied: list[tuple[int, bytes]] = []
        observer = MetadataObserver(quorum.config(), link, finder, applied.extend, never_loaded, broker_id=4)
        await observer.start()

        def caught_up(count: int) -> Callable[[], bool]:
            return lambda: len(applied) == count

        await quorum.commit(b"a", b"b")
        await until(caught_up(2), "the observer has the first records")
        leader = await quorum.leader()
        assert leader.leader_id is not None
        await quorum.stop(leader.leader_id)
        last = await quorum.commit(b"c")
        await until(caught_up(3), "the observer follows the next leader")
        assert [value for _, value in applied] == [b"a", b"b", b"c"]
        assert observer.offset == last
        async with asyncio.timeout(TIMEOUT_S):
            while await observers(quorum) != {4: last + 1}:  # noqa: ASYNC110  # only the leader knows
                await asyncio.sleep(0.05)
        await observer.close()
        link.close()
