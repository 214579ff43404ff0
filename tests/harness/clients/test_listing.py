"""Whom the active controller holds to be alive shows in what it lists, from its election on."""

from __future__ import annotations

from harness.clients.metadata.image import BrokerEntry, Image
from harness.clients.observer import Listing
from harness.clients.views import Answer, BrokerView

IMAGE = Image({4: BrokerEntry(4, 14, "active", 14), 5: BrokerEntry(5, 15, "active", 15)})


def states(listing: Listing, image: Image = IMAGE) -> dict[int, str]:
    return {id: broker.state for id, broker in listing.applied(image).brokers.items()}


def serving(*brokers: int) -> BrokerView:
    return BrokerView(Answer.SERVING, frozenset(brokers))


def test_before_a_controller_has_answered_nobody_knows() -> None:
    assert states(Listing()) == {4: "registered", 5: "registered"}


def test_who_is_registered_and_not_listed_is_inactive() -> None:
    assert states(Listing("node-4").told("node-4", serving(4), began=1.0)) == {4: "active", 5: "inactive"}


def test_only_the_active_controller_counts() -> None:
    listing = Listing("node-4").told("node-4", serving(4, 5), began=1.0)
    assert listing.told("node-5", serving(5), began=2.0) == listing


def test_an_answer_from_before_the_election_does_not_count() -> None:
    listing = Listing("node-4").told("node-4", serving(4, 5), began=1.0).of("node-5", now=3.0)
    assert listing.told("node-5", serving(5), began=2.9) == listing
    assert states(listing.told("node-5", serving(5), began=3.1)) == {4: "inactive", 5: "active"}


def test_what_was_listed_last_stands_while_the_controller_is_silent_or_gone() -> None:
    listing = Listing("node-4").told("node-4", serving(4), began=1.0)
    assert listing.told("node-4", BrokerView(Answer.SILENT), began=2.0) == listing
    assert states(listing.of(None, now=3.0)) == {4: "active", 5: "inactive"}


def test_of_another_controller_nothing_is_known_until_it_has_answered() -> None:
    listing = Listing("node-4").told("node-4", serving(4), began=1.0)
    assert states(listing.of("node-5", now=3.0)) == {4: "registered", 5: "registered"}
    assert states(listing.of(None, now=3.0).of("node-5", now=4.0)) == {4: "registered", 5: "registered"}
    assert states(listing.of(None, now=3.0).of("node-4", now=4.0)) == {4: "active", 5: "inactive"}


def test_who_is_gone_stays_gone() -> None:
    gone = Image({4: BrokerEntry(4, 14, "gone", 14)})
    assert states(Listing("node-4").told("node-4", serving(4), began=1.0), gone) == {4: "gone"}
