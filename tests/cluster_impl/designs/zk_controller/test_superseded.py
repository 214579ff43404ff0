from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.zk_controller.superseded import SupersededConnections


@pytest.mark.requirement("D343-08")
def test_what_comes_by_a_connection_that_its_sender_gave_up_is_a_late_copy() -> None:
    connections = SupersededConnections()
    sender = (4, 70)
    assert not connections.is_superseded(sender, connection=1)
    assert not connections.is_superseded(sender, connection=1)
    assert not connections.is_superseded(sender, connection=2)
    assert not connections.is_superseded(sender, connection=2)
    assert connections.is_superseded(sender, connection=1)


def test_connections_of_other_senders_and_of_their_other_epochs_supersede_nothing() -> None:
    connections = SupersededConnections()
    connections.is_superseded((5, 70), connection=9)
    connections.is_superseded((4, 71), connection=9)
    assert not connections.is_superseded((4, 70), connection=1)
