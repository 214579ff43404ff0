"""The components of one controller, put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from fencepost.cluster_impl.designs.zk_controller.controller.brokers.broker_states import BrokerStates
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.controlled_shutdown import ControlledShutdown
from fencepost.cluster_impl.designs.zk_controller.controller.brokers.liveness import BrokerLiveness
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import ControllerConfig, StateMachines
from fencepost.cluster_impl.designs.zk_controller.controller.topics.delete_topics import DeleteTopicsRequests
from fencepost.cluster_impl.designs.zk_controller.controller.topics.deletion import TopicDeletion
from fencepost.cluster_impl.designs.zk_controller.controller.topics.preferred_leaders import PreferredLeaders
from fencepost.cluster_impl.designs.zk_controller.controller.topics.reassignment import Reassignments
from fencepost.cluster_impl.designs.zk_controller.controller.topics.topic_listener import TopicListener
from fencepost.cluster_impl.designs.zk_controller.controller.views import ContextView


@dataclass(frozen=True, slots=True)
class Components:
    """The components of the controller of one term."""

    config: ControllerConfig
    machines: StateMachines
    states: BrokerStates
    view: ContextView
    topics: TopicListener
    deletion: TopicDeletion
    delete_requests: DeleteTopicsRequests
    reassignments: Reassignments
    liveness: BrokerLiveness
    preferred: PreferredLeaders
    shutdown: ControlledShutdown

    @classmethod
    def make(cls, config: ControllerConfig, new_topic_id: Callable[[], UUID]) -> Components:
        machines = StateMachines.make(config)
        states = BrokerStates(config.design.controller_heartbeat_timeout)
        deletion = TopicDeletion(machines, enabled=config.design.delete_topics)
        return cls(
            config=config,
            machines=machines,
            states=states,
            view=ContextView(machines.context, states),
            topics=TopicListener(machines, new_topic_id),
            deletion=deletion,
            delete_requests=DeleteTopicsRequests(machines.context, enabled=config.design.delete_topics),
            reassignments=Reassignments(machines),
            liveness=BrokerLiveness(machines, states, deletion),
            preferred=PreferredLeaders(machines, config.design),
            shutdown=ControlledShutdown(machines, states),
        )
