"""The vocabulary of scenarios: everything that a scenario needs, under one import.

    from fencepost.suites import vocabulary as v

A name that a scenario lacks is imported here.
"""

from __future__ import annotations

from fencepost.faults.capabilities import Capability
from fencepost.faults.clock.jump import ClockJumpParameters
from fencepost.faults.clock.skew import ClockSkewParameters
from fencepost.faults.containers.cpu import CpuParameters
from fencepost.faults.containers.disconnect import DisconnectParameters
from fencepost.faults.containers.memory import MemoryParameters
from fencepost.faults.disks.bit_flip import BitFlipParameters
from fencepost.faults.disks.damaged_file import DamagedFileParameters
from fencepost.faults.disks.disk_error import DiskErrorParameters
from fencepost.faults.disks.disk_full import DiskFullParameters
from fencepost.faults.disks.disk_read_only import DiskReadOnlyParameters
from fencepost.faults.disks.disk_slow import DiskSlowParameters
from fencepost.faults.disks.log_dir import LogDirParameters
from fencepost.faults.disks.power_loss import PowerLossParameters
from fencepost.faults.disks.rename_error import RenameErrorParameters
from fencepost.faults.disks.torn_write import TornWriteParameters
from fencepost.faults.identity.changed_id import ChangedIdParameters
from fencepost.faults.identity.duplicate import DuplicateParameters
from fencepost.faults.identity.foreign_cluster import ForeignClusterParameters
from fencepost.faults.identity.swapped import SwappedParameters
from fencepost.faults.links.blackhole import BlackholeParameters
from fencepost.faults.links.bridge import BridgeParameters
from fencepost.faults.links.cut import CutParameters
from fencepost.faults.links.cut_after_bytes import CutAfterBytesParameters
from fencepost.faults.links.flapping import FlappingParameters
from fencepost.faults.links.isolate import IsolateParameters
from fencepost.faults.links.one_way import OneWayParameters
from fencepost.faults.links.reset import ResetParameters
from fencepost.faults.links.ring import RingParameters
from fencepost.faults.links.slow import SlowParameters
from fencepost.faults.links.stall import StallParameters
from fencepost.faults.processes.crash_loop import CrashLoopParameters
from fencepost.faults.processes.emptied import EmptiedParameters
from fencepost.faults.processes.kill import KillParameters
from fencepost.faults.processes.late_bytes import LateBytesParameters
from fencepost.faults.processes.pause import PauseParameters
from fencepost.faults.processes.restored import RestoredParameters
from fencepost.faults.processes.rolling_restart import RollingRestartParameters
from fencepost.faults.processes.terminate import TerminateParameters
from fencepost.harness.checkers.owed import broken_by_loss
from fencepost.harness.network.addresses import CLIENT_PORT, PEER_PORT
from fencepost.harness.plan.base import After, Expect, ExpectOutcome, Level, LogLine, NodeRefs, Release, Value
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.conditions.administrator_served import AdministratorServed
from fencepost.harness.plan.conditions.assignment_is import AssignmentIs
from fencepost.harness.plan.conditions.backlog import Backlog
from fencepost.harness.plan.conditions.broker_active import BrokerActive
from fencepost.harness.plan.conditions.broker_epoch_above import BrokerEpochAbove
from fencepost.harness.plan.conditions.broker_fenced import BrokerFenced
from fencepost.harness.plan.conditions.checkpoint import Checkpoint
from fencepost.harness.plan.conditions.condition import LIVENESS_TIMEOUT_MS
from fencepost.harness.plan.conditions.connected import Connected
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.conditions.isr_is import IsrIs
from fencepost.harness.plan.conditions.isr_shrunk import IsrShrunk
from fencepost.harness.plan.conditions.leader_epoch_above import LeaderEpochAbove
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.conditions.log_end import LogEnd
from fencepost.harness.plan.conditions.logged import Logged
from fencepost.harness.plan.conditions.metadata_from import MetadataFrom
from fencepost.harness.plan.conditions.node_exited import NodeExited
from fencepost.harness.plan.conditions.registered import Registered
from fencepost.harness.plan.conditions.replica_offline import ReplicaOffline
from fencepost.harness.plan.conditions.runs_release import RunsRelease
from fencepost.harness.plan.conditions.settings_agree import SettingsAgree
from fencepost.harness.plan.conditions.topic_created_through import TopicCreatedThrough
from fencepost.harness.plan.conditions.watches import Watches
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.conditions.workload_reads import WorkloadReads
from fencepost.harness.plan.conditions.znode import Znode
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
from fencepost.harness.plan.requests.alter_isr import AlterIsrProbe
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.controlled_shutdown import ControlledShutdownProbe
from fencepost.harness.plan.requests.controller_heartbeat import ControllerHeartbeatProbe
from fencepost.harness.plan.requests.create_partitions import CreatePartitionsProbe
from fencepost.harness.plan.requests.create_topic import CreateTopicProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.requests.describe_quorum import DescribeQuorumProbe
from fencepost.harness.plan.requests.fetch import FetchProbe
from fencepost.harness.plan.requests.heartbeat import HeartbeatProbe
from fencepost.harness.plan.requests.isr_change import IsrChangeProbe
from fencepost.harness.plan.requests.leader_and_isr import LeaderAndIsrProbe
from fencepost.harness.plan.requests.list_offsets import ListOffsetsProbe
from fencepost.harness.plan.requests.list_reassignments import ListReassignmentsProbe
from fencepost.harness.plan.requests.metadata import MetadataProbe
from fencepost.harness.plan.requests.metadata_heartbeat import MetadataHeartbeatProbe
from fencepost.harness.plan.requests.metadata_log import MetadataLogProbe
from fencepost.harness.plan.requests.metrics import MetricsProbe
from fencepost.harness.plan.requests.produce import ProduceProbe
from fencepost.harness.plan.requests.reassign import ReassignProbe
from fencepost.harness.plan.requests.replica_fetch import ReplicaFetchProbe
from fencepost.harness.plan.requests.replica_state_event import EventTopic, ReplicaStateEventProbe
from fencepost.harness.plan.requests.stop_replica import StopReplicaProbe
from fencepost.harness.plan.requests.update_features import UpdateFeaturesProbe
from fencepost.harness.plan.requests.update_metadata import UpdateMetadataProbe
from fencepost.harness.plan.requests.vote import VoteProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.backup import Backup
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.heal_all import HealAll
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.plan.steps.produce import Produce
from fencepost.harness.plan.steps.roll import Roll
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.plan.steps.start import Start
from fencepost.harness.plan.steps.workload import Workload
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.harness.plan.topologies import BROKER_IDS, CONTROLLER_IDS, node_name
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
    setup,
    teardown,
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
)
from fencepost.suites.requests import (
    END,
    FETCHED,
    FIRST,
    LISTED,
    NEWEST,
    PRODUCED,
    QUORUM,
    configured,
    described_quorum,
    directory_bound,
    fetched,
    listed,
    produced,
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
