"""The parts of one controller, put together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from cluster_impl.designs.zk_controller.controller.controlled_shutdown import ControlledShutdown
from cluster_impl.designs.zk_controller.controller.core import ControllerConfig, Core
from cluster_impl.designs.zk_controller.controller.delete_topics import TopicDeletions
from cluster_impl.designs.zk_controller.controller.deletion import TopicDeletion
from cluster_impl.designs.zk_controller.controller.heartbeats import BrokerStates
from cluster_impl.designs.zk_controller.controller.liveness import Liveness
from cluster_impl.designs.zk_controller.controller.preferred import PreferredLeaders
from cluster_impl.designs.zk_controller.controller.reassignment import Reassignments
from cluster_impl.designs.zk_controller.controller.topics import Topics
from cluster_impl.designs.zk_controller.controller.views import ContextView


@dataclass(frozen=True, slots=True)
class Parts:
    config: ControllerConfig
    core: Core
    states: BrokerStates
    view: ContextView
    topics: Topics
    deletion: TopicDeletion
    topic_deletions: TopicDeletions
    reassignments: Reassignments
    liveness: Liveness
    preferred: PreferredLeaders
    shutdown: ControlledShutdown

    @classmethod
    def make(cls, config: ControllerConfig, new_topic_id: Callable[[], UUID]) -> Parts:
        core = Core.make(config)
        states = BrokerStates(config.heartbeat_timeout)
        deletion = TopicDeletion(core, enabled=config.delete_topics)
        return cls(
            config=config,
            core=core,
            states=states,
            view=ContextView(core.context, states),
            topics=Topics(core, new_topic_id),
            deletion=deletion,
            topic_deletions=TopicDeletions(core.context, enabled=config.delete_topics),
            reassignments=Reassignments(core),
            liveness=Liveness(core, states, deletion),
            preferred=PreferredLeaders(core, config),
            shutdown=ControlledShutdown(core),
        )
