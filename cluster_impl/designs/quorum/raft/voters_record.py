"""The record of a set of voters: a control record of our own in the metadata log, and in the header of snapshots.

Control records are no metadata: brokers do not replay them, and get the voters' addresses in answers to fetches
(decision 0067).
"""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft.voters import VoterSet
from fencepost.cluster_impl.wire import batches as format_
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.batches import Batch

VOTERS_KEY = b"\0\0\x03\xe9"
"""The key of a control record: version 0, type 1001, which Kafka does not use."""


def encode_voters(voters: VoterSet) -> bytes:
    """Return the value of the record."""
    named = [
        m.QuorumVotersRecord.Voter(voter_id=node_id, host=host, port=port) for node_id, host, port in voters.entries
    ]
    return m.QuorumVotersRecord(voters=named).encode(0)


def voters_in(batch: Batch) -> VoterSet | None:
    """Return the set of voters that a batch holds the record of, None if it holds none. Raises Malformed."""
    if not batch.is_control:
        return None
    for record in format_.parse(batch):
        if record.key == VOTERS_KEY:
            found = m.QuorumVotersRecord.decode(record.value or b"", 0)
            return VoterSet.of({voter.voter_id: (voter.host, voter.port) for voter in found.voters})
    return None
