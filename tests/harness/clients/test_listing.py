"""The list of the active controller shows the brokers that it holds to be alive, from its election on."""

from __future__ import annotations

from fencepost.harness.clients.metadata.image import BrokerEntry, Image
from fencepost.harness.clients.observer import ListedBrokers
from fencepost.harness.clients.views import Answer, BrokerView

IMAGE = Image({4: BrokerEntry(4, 14, "active", 14), 5: BrokerEntry(5, 15, "active", 15)})


def states(listing: ListedBrokers, image: Image = IMAGE) -> dict[int, str]:
    return {id: broker.state for id, broker in listing.applied(image).brokers.items()}


def serving(*brokers: int) -> BrokerView:
    return BrokerView(Answer.SERVING, frozenset(brokers))


def test_before_a_controller_has_answered_the_state_is_unknown() -> None:
    assert states(ListedBrokers()) == {4: "registered", 5: "registered"}


def test_a_broker_that_is_registered_and_not_listed_is_inactive() -> None:
    assert states(ListedBrokers("node-4").updated("node-4", serving(4), began=1.0)) == {4: "active", 5: "inactive"}


def test_only_the_active_controller_counts() -> None:
    listing = ListedBrokers("node-4").updated("node-4", serving(4, 5), began=1.0)
    assert listing.updated("node-5", serving(5), began=2.0) == listing


def test_an_answer_from_before_the_election_does_not_count() -> None:
    listing = ListedBrokers("node-4").updated("node-4", serving(4, 5), began=1.0).of("node-5", now=3.0)
    assert listing.updated("node-5", serving(5), began=2.9) == listing
    assert states(listing.updated("node-5", serving(5), began=3.1)) == {4: "inactive", 5: "active"}


def test_what_was_listed_last_stands_while_the_controller_is_silent_or_gone() -> None:
    listing = ListedBrokers("node-4").updated("node-4", serving(4), began=1.0)
    assert listing.updated("node-4", BrokerView(Answer.SILENT), began=2.0) == listing
    assert states(listing.of(None, now=3.0)) == {4: "active", 5: "inactive"}


def test_of_another_controller_nothing_is_known_until_it_has_answered() -> None:
    listing = ListedBrokers("node-4").updated("node-4", serving(4), began=1.0)
    assert states(listing.of("node-5", now=3.0)) == {4: "registered", 5: "registered"}
    assert states(listing.of(None, now=3.0).of("node-5", now=4.0)) == {4: "registered", 5: "registered"}
    assert states(listing.of(None, now=3.0).of("node-4", now=4.0)) == {4: "active", 5: "inactive"}


def test_a_broker_that_is_gone_stays_gone() -> None:
    gone = Image({4: BrokerEntry(4, 14, "gone", 14)})
    assert states(ListedBrokers("node-4").updated("node-4", serving(4), began=1.0), gone) == {4: "gone"}
