"""A controller that describes the quorum as if itself were its only voter (against K631-11)."""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.raft import node
from fencepost.cluster_impl.designs.quorum.raft.core import RaftCore
from fencepost.cluster_impl.designs.quorum.raft.describe import describe_quorum
from fencepost.cluster_impl.wire import messages as m


def apply() -> None:
    def of_itself_alone(
        request: m.DescribeQuorumRequest, core: RaftCore, now: float, wall: float
    ) -> m.DescribeQuorumResponse:
        response = describe_quorum(request, core, now, wall)
        for topic in response.topics:
            for partition in topic.partitions:
                partition.current_voters = [
                    each for each in partition.current_voters if each.replica_id == core.node_id
                ]
        return response

    vars(node)["describe_quorum"] = of_itself_alone
