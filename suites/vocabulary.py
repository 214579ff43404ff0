"""The vocabulary of scenarios: everything that a scenario needs, under one import.

    from fencepost.suites import vocabulary as v

The words of plans are those of `suites/words.py`, which the registries make. A builder that a scenario lacks is
imported here.
"""

from __future__ import annotations

from fencepost.faults.capabilities import Capability
from fencepost.harness.checkers.owed import broken_by_loss
from fencepost.harness.network.addresses import CLIENT_PORT, PEER_PORT
from fencepost.harness.plan.base import After, Expect, ExpectOutcome, Level, LogLine, NodeRefs, Release, Value
from fencepost.harness.plan.conditions.condition import LIVENESS_TIMEOUT_MS
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import (
    Acknowledged,
    Attempted,
    Committed,
    ConsumerSpec,
    Coverage,
    Deviation,
    MembershipSpec,
    NodeSettings,
    NodeSpec,
    OutcomeSeen,
    Plan,
    ProducerSpec,
    StepDone,
    Timing,
    TopicSpec,
    Topology,
    TransactionSpec,
    WorkloadSpec,
)
from fencepost.harness.plan.requests.replica_state_event import EventTopic
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.topologies import BROKER_IDS, CONTROLLER_IDS, front_end, node_name
from fencepost.suites.building import (
    CONSUMER,
    PRODUCER,
    WORKLOAD,
    acknowledged,
    goes_on,
    learns_leader,
    logs_sole_isr,
    returns_to_isr,
    service_probes,
    workload_with_losses,
)
from fencepost.suites.clusters import (
    GUEST_ID,
    JOINER_ID,
    cluster_with_a_guest,
    combined_cluster,
    duplicate_of,
    fourth_broker,
    growing_cluster,
    in_racks,
    lease_sources,
    metadata_store,
    node_id,
    promised_topic,
    quorum_cluster,
    quorum_of_one,
    rotated_topic,
    scaled_timing,
    self_fence_ms,
    smallest_cluster,
    topic,
    zookeeper_cluster,
)
from fencepost.suites.expectations import (
    ACKNOWLEDGED_LOSS,
    LOG_DIVERGENCE,
    TRUNCATION,
    answers,
    expected_losses,
    may_answer,
    must,
    never,
    never_answers,
    never_serves,
    serves,
)
from fencepost.suites.requests import (
    END,
    FETCHED,
    FIRST,
    LISTED,
    NEWEST,
    PRODUCED,
    QUORUM,
    ask,
    ask_until,
    burst,
    configured,
    deleted_before,
    described,
    described_log_dirs,
    described_quorum,
    directory_bound,
    fetched,
    listed,
    listed_topics,
    new_topic,
    produced,
    produced_at,
    producer_id_given,
    setting,
    voter_added,
    voter_removed,
)
from fencepost.suites.scenario import (
    DYNAMIC,
    HEARTBEATS_OR_SHIPPED,
    REPLICA_EVENTS_OR_SHIPPED,
    REPLICATION_V2,
    Draft,
    Scenario,
    any_scenario,
    declared_in,
    fault_scenario,
    internals_scenario,
    kip_343_scenario,
    kraft_scenario,
    replica_state_event_scenario,
    replication_v2_scenario,
    scenario,
)
from fencepost.suites.shared import (
    features_finalized,
    followers_leave_and_return,
    held_unreported,
    led_from_inside_the_isr,
    no_successor,
)
from fencepost.suites.target_facts import (
    ALL_DESIGNS,
    LEADER_DRIVEN,
    SHIPPED_QUORUM,
    WITHOUT_ZOOKEEPER,
    ZOOKEEPER_MODE,
    TargetFacts,
)
from fencepost.suites.words import *
from fencepost.suites.znodes import (
    LOG_DIR_EVENTS,
    PREFERRED,
    REASSIGN,
    create_topic,
    elect_preferred,
    leaders_in_metadata,
    log_dir_event,
    partition_state_written,
    reassign,
    topic_data,
    topic_id,
    znode_absent,
    znode_present,
)
