"""The state of a cluster by the answers of its brokers alone."""

from __future__ import annotations

from uuid import UUID

from fencepost.harness.clients.described import described_image
from fencepost.harness.clients.metadata.image import Image
from fencepost.harness.clients.views import Answer, BrokerView, PartitionView

IDS = {"node-4": 4, "node-5": 5}
ID = "12345678-1234-5678-1234-567812345678"


def _view(*partitions: PartitionView, brokers: tuple[int, ...] = (4, 5), answer: Answer = Answer.SERVING) -> BrokerView:
    return BrokerView(answer, frozenset(brokers), {f"{each.topic}-{each.partition}": each for each in partitions})


def _led(leader: int, epoch: int, topic: str = "t") -> PartitionView:
    return PartitionView(topic, 0, leader, epoch, (leader,), topic_id=ID, replicas=(4, 5))


def test_the_answer_of_the_highest_leader_epoch_counts() -> None:
    image = described_image(Image(), {"node-4": _view(_led(4, 3)), "node-5": _view(_led(5, 4))}, IDS)
    assert (image.partitions["t-0"].leader, image.partitions["t-0"].leader_epoch) == (5, 4)
    assert image.partitions["t-0"].replicas == (4, 5)
    assert image.topics == {UUID(ID): "t"}


def test_of_two_answers_of_one_epoch_that_of_the_leader_counts() -> None:
    stale = PartitionView("t", 0, 4, 3, (4, 5), replicas=(4, 5))
    image = described_image(Image(), {"node-5": _view(stale), "node-4": _view(_led(4, 3))}, IDS)
    assert image.partitions["t-0"].isr == (4,)


def test_an_unknown_leader_epoch_is_that_of_a_partition_all_the_same() -> None:
    assert described_image(Image(), {"node-4": _view(_led(4, -1))}, IDS).partitions["t-0"].leader_epoch == 0


def test_a_broker_is_gone_once_no_other_lists_it_and_a_topic_once_no_broker_describes_it() -> None:
    before = described_image(Image(), {"node-4": _view(_led(4, 0)), "node-5": _view(_led(4, 0))}, IDS)
    partly = described_image(before, {"node-4": _view(brokers=(4,)), "node-5": _view(_led(4, 0))}, IDS)
    assert partly == before
    after = described_image(before, {"node-4": _view(brokers=(4,)), "node-5": _view(brokers=(4,))}, IDS)
    assert {id: broker.state for id, broker in after.brokers.items()} == {4: "active", 5: "gone"}
    assert after.partitions == {}


def test_while_no_broker_answers_everything_is_as_it_was() -> None:
    before = described_image(Image(), {"node-4": _view(_led(4, 0))}, IDS)
    silent = {"node-4": _view(answer=Answer.SILENT), "node-5": BrokerView()}
    assert described_image(before, silent, IDS) is before
    assert described_image(before, {"node-4": _view(_led(4, 0))}, IDS) is before
