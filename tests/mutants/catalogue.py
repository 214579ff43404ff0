"""The planted defects: which design can have each, what it is in Kafka, and where it is looked for first."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

QUORUM, ZK, LEADER_DRIVEN = "quorum", "zk-controller", "leader-driven"
ALL = (QUORUM, ZK, LEADER_DRIVEN)
WITH_CONTROLLER = (QUORUM, ZK)
"""Also of defects about a new leader whose high watermark is lower than its log: without a controller, a leader begins
with its log's end as its high watermark, and cannot have them."""

_Q = "tests/cluster_impl/designs/quorum"
_ZK = "tests/cluster_impl/designs/zk_controller"
_R = "tests/cluster_impl/replication"
_S = "tests/cluster_impl/storage"
_SEC = "tests/cluster_impl/security"
_LD = "tests/mutants/test_leader_driven_guarantees.py"


@dataclass(frozen=True)
class Defect:
    """A module of this folder. `kafka` is the issue of Apache Kafka that it models, empty for one of our own.

    `unit` is the test that finds it, or the folder of tests where one is expected. `rules` are those that it breaks.
    `scenarios` are run first, then all others that ask one of the rules, then the rest.
    """

    name: str
    kafka: str
    designs: tuple[str, ...]
    rules: tuple[str, ...]
    scenarios: tuple[str, ...]
    unit: str

    @property
    def text(self) -> str:
        """The first paragraph of the module's docstring."""
        source = Path(__file__).with_name(f"{self.name}.py").read_text("utf-8")
        return " ".join((ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0].split())


DEFECTS: tuple[Defect, ...] = (
    # Defects that this project planted first; each has a unit test of its own.
    Defect(
        "no_self_fence", "", (QUORUM,), ("D631-01", "K631-32"), ("cut-from-controllers-cut",),
        f"{_Q}/broker/test_lifecycle.py::test_a_process_that_slept_through_its_lease_is_fenced_before_any_timer_runs",
    ),
    Defect(
        "initial_loses", "KAFKA-19047", (QUORUM,), ("D631-12",), ("restart-inside-the-lease", "duplicate-id-empty"),
        f"{_Q}/controller/test_heartbeats.py::"
        "test_initial_takes_the_id_at_once_and_the_original_leaves_every_isr_in_the_same_batch",
    ),
    Defect(
        "fetch_foreign_epoch_credited", "KAFKA-15221", ALL, ("D631-16", "ISR-07"),
        ("foreign-fetches", "stale-requests", "refused-duplicate"),
        f"{_R}/test_cluster.py::test_a_fetch_of_another_incarnation_commits_nothing",
    ),
    Defect(
        "stale_epoch_accepted_in_alter_isr", "", (QUORUM,), ("D631-20", "ISR-04"), ("stale-requests",),
        f"{_Q}/controller/test_alter_isr.py::test_each_guard_refuses_with_its_error_and_changes_nothing",
    ),
    Defect(
        "reply_before_commit", "", (QUORUM,), ("K631-17", "K631-16"), ("isolated-controller", "quorum-lost"),
        f"{_Q}/controller/test_controller.py::test_a_granted_epoch_is_not_shown_before_its_record_is_committed",
    ),
    Defect(
        "deposed_renews", "", (QUORUM,), ("D631-03",), ("isolated-controller", "active-controller-paused"),
        f"{_Q}/controller/test_controller.py::test_a_renewal_waits_for_a_majority_asked_after_it_arrived",
    ),
    Defect(
        "standby_denies_nothing", "", (QUORUM,), ("K631-57",), ("active-controller-paused",),
        f"{_Q}/controller/test_controller.py::test_a_deposed_controller_answers_nothing_but_not_controller",
    ),
    Defect(
        "follower_does_not_truncate", "", WITH_CONTROLLER, ("HW-04", "HW-03"), ("isolated-leader", "two-leaders"),
        f"{_R}/test_cluster.py::test_a_deposed_leader_loses_only_what_no_other_replica_took",
    ),
    Defect(
        "incarnation_not_compared", "", (ZK,), ("K343-27", "K343-40"), ("newer-incarnation-wins",),
        f"{_ZK}/controller/test_broker_heartbeats.py::"
        "test_an_earlier_incarnation_is_refused_also_by_the_next_controller",
    ),
    Defect(
        "fenced_broker_answers", "", (ZK,), ("K343-18",), ("silent-broker-cut",),
        f"{_ZK}/broker/test_lifecycle.py::"
        "test_a_process_that_slept_through_the_timeout_is_fenced_before_any_timer_runs",
    ),
    Defect(
        "controller_epoch_not_compared", "", (ZK,), ("DINT-05",), ("old-controller",),
        f"{_ZK}/broker/test_controller_requests.py::"
        "test_a_newer_controller_shuts_the_older_one_out_also_by_a_request_without_partitions",
    ),
    Defect(
        "compare_and_set_dropped", "", (ZK,), ("INT-61",), ("two-leaders",),
        f"{_ZK}/broker/test_isr_writes.py::test_a_leader_that_was_given_up_fails_to_shrink_and_changes_nothing",
    ),
    Defect(
        "legacy_broker_fenced", "", (ZK,), ("K343-59",), ("mixed-cluster-legacy-leader",),
        f"{_ZK}/test_ibp.py::test_a_level_turns_on_what_it_is_for_and_what_came_before",
    ),
    Defect(
        "earlier_session_is_foreign", "KAFKA-7165", (ZK,), ("DINT-17",), ("zookeeper-leader-unheard",),
        f"{_ZK}/broker/test_registration_kept.py::"
        "test_a_broker_waits_for_the_znode_of_its_own_earlier_session_to_go",
    ),
    Defect(
        "silence_taken_for_refusal", "", (ZK, LEADER_DRIVEN), ("DINT-17", "DLD-01"), ("waits-for-its-id-unheard",),
        "tests/cluster_impl/designs/on_zookeeper/test_ephemeral.py::"
        "test_a_process_that_hears_nothing_waits_on_and_takes_what_it_finds_free",
    ),
    Defect(
        "event_of_an_earlier_epoch_applied", "", (ZK,), ("RSE-14",), ("late-log-dir-event",),
        f"{_ZK}/controller/test_replica_state_event_requests.py::"
        "test_an_event_of_a_process_that_was_restarted_since_is_stopped",
    ),
    Defect(
        "notification_watch_left_on", "", (ZK,), ("RSE-05",), ("log-dir-fails-on-a-leader",),
        f"{_ZK}/controller/test_startup_watches.py::"
        "test_notifications_of_log_dirs_are_watched_below_the_level_of_replica_events_only",
    ),
    Defect(
        "start_replica_epoch_not_checked", "", (LEADER_DRIVEN,), ("LD-36",), ("v2-requests-of-the-past",),
        f"{_LD}::test_a_request_of_an_earlier_epoch_starts_nothing_and_closes_all_the_same",
    ),
    Defect(
        "close_dropped_by_shrink", "", (LEADER_DRIVEN,), ("LD-40",), ("v2-queue-full",),
        f"{_LD}::test_a_full_queue_keeps_of_each_partition_the_latest_that_has_to_be_closed",
    ),
    Defect(
        "isr_written_without_epoch", "", (LEADER_DRIVEN,), ("DLD-04",), ("v2-leader-dies-young",),
        f"{_LD}::test_each_winner_has_an_epoch_that_no_leader_had_before",
    ),
    Defect(
        "isr_overwritten", "", (LEADER_DRIVEN,), ("DLD-04", "ISR-02"),
        ("v2-leader-replaced-unheard", "v2-leader-paused"),
        f"{_LD}::test_an_isr_is_not_written_over_another_version",
    ),
    Defect(
        "election_outside_isr", "KIP-966", (LEADER_DRIVEN,), ("LD-28",), ("v2-outside-the-isr",),
        f"{_LD}::test_a_replica_outside_the_isr_does_not_win",
    ),
    Defect(
        "leads_on_without_session", "KAFKA-1483", (LEADER_DRIVEN,), ("DLD-15",), ("v2-cut-from-zookeeper-cut",),
        f"{_LD}::test_a_leader_whose_session_is_over_leads_nothing",
    ),
    Defect(
        "isr_version_kept", "KAFKA-2729", (LEADER_DRIVEN,), ("LD-31",), ("v2-follower-paused",),
        f"{_LD}::test_a_leader_changes_its_isr_as_often_as_it_has_to",
    ),
    Defect(
        "acknowledged_before_isr", "", ALL, ("ACK-01", "HW-02"),
        ("v2-cut-from-followers-fetches", "slow-follower", "leader-killed", "sleeping-leader"),
        f"{_R}/test_rules.py::test_what_is_written_after_that_waits_for_every_in_sync_replica",
    ),
    Defect(
        "truncated_to_the_beginning", "KAFKA-2143", (LEADER_DRIVEN,), ("DIR-05",),
        ("stopped-follower", "truncated-and-elected"),
        f"{_R}/test_rules.py::test_a_follower_cuts_its_log_to_its_own_high_watermark_and_asks_no_leader",
    ),
    Defect(
        "high_watermark_zeroed", "KAFKA-769", (ZK, LEADER_DRIVEN), ("HW-01", "HW-06", "ACK-01"),
        ("below-min-isr", "truncated-and-elected"),
        f"{_R}/test_cluster_v2.py::"
        "test_a_restart_begins_at_the_high_watermark_that_was_written_down_or_at_the_end_if_that_is_lower",
    ),
    # Defects of Apache Kafka.
    Defect(
        "truncates_all_on_migration", "KAFKA-2143", WITH_CONTROLLER, ("HW-04", "ACK-01"),
        ("successor-dies-after-an-answer", "truncated-and-elected", "rolling-restart", "brokers-killed-in-turn"), _R,
    ),
    Defect(
        "truncates_to_high_watermark", "KAFKA-1211", WITH_CONTROLLER, ("HW-03", "ACK-01"),
        ("successor-dies-unheard", "truncated-and-elected", "truncated-and-overwritten"), _R,
    ),
    Defect(
        "diverges_after_fast_failover", "KAFKA-6361", WITH_CONTROLLER, ("HW-03", "HW-04"),
        ("terms-unheard", "fast-failover", "truncated-and-overwritten", "isolated-leader", "two-leaders"), _R,
    ),
    Defect(
        "joins_below_the_epochs_start", "KAFKA-7128", WITH_CONTROLLER, ("ISR-10", "ISR-06", "ACK-01"),
        ("empty-behind-the-successor", "truncated-and-elected", "isolated-leader", "slow-follower"), _R,
    ),
    Defect(
        "epoch_not_noted_on_election", "KAFKA-7415", WITH_CONTROLLER, ("HW-07", "HW-04"),
        ("terms-unheard", "fast-failover", "truncated-and-overwritten", "isolated-leader"), _R,
    ),
    Defect(
        "high_watermark_above_cut_log", "KAFKA-9491", ALL, ("HW-01", "HW-02"),
        ("truncated-and-elected", "isolated-leader"), _R,
    ),
    Defect(
        "old_divergence_applied", "KAFKA-18991", WITH_CONTROLLER, ("HW-03", "HW-04", "ACK-01"),
        ("earlier-answer", "isolated-leader", "truncated-and-overwritten"), _R,
    ),
    Defect(
        "conflicting_epochs_kept", "KAFKA-10706", WITH_CONTROLLER, ("HW-04",),
        ("terms-unheard", "fast-failover", "isolated-leader", "truncated-and-overwritten"), f"{_S}/test_epochs.py",
    ),
    Defect(
        "epoch_file_needed_at_start", "KAFKA-16541", WITH_CONTROLLER, ("DISK-05", "LIVE-01"),
        ("follower-disk-full", "leader-loses-power"), _S,
    ),
    Defect(
        "zombie_follower_served", "KAFKA-6880", WITH_CONTROLLER, ("D631-21", "HW-07", "HW-03"),
        ("fast-failover", "stale-requests", "foreign-fetches", "isolated-leader"), _R,
    ),
    Defect("broker_epoch_not_compared", "KAFKA-7235", (ZK,), ("DINT-06",), ("stale-commands", "old-controller"), _ZK),
    Defect(
        "old_controller_writes", "KAFKA-6082", (ZK,), ("DINT-04",),
        ("controller-replaced-unheard", "controller-paused", "old-controller"), _ZK,
    ),
    Defect(
        "stale_leader_and_isr_accepted", "KAFKA-1188", (ZK,), ("DINT-05", "ISR-01"), ("stale-commands", "two-leaders"),
        f"{_ZK}/broker",
    ),
    Defect("stop_replica_epoch_not_compared", "KAFKA-9539", (ZK,), ("DINT-06",), ("stale-commands",), f"{_ZK}/broker"),
    Defect(
        "stopping_broker_not_notified", "KAFKA-7482", (ZK,), ("INT-22",),
        ("controlled-shutdown-held-up", "controlled-shutdown-in-turn"),
        f"{_ZK}/controller",
    ),
    Defect(
        "conflicting_id_deletes_znode", "KAFKA-1971", (ZK,), ("DINT-17",),
        ("duplicate-id-at-the-znode", "id-taken-after-expiry"), "tests/cluster_impl/designs/on_zookeeper",
    ),
    Defect(
        "refused_id_unregisters_holder", "KAFKA-1971", (QUORUM,), ("D631-15",),
        ("refused-duplicate", "stale-requests", "duplicate-id-empty"), f"{_Q}/controller",
    ),
    Defect("foreign_cluster_joins", "KAFKA-13528", (QUORUM,), ("DIR-01",), ("foreign-cluster",), f"{_Q}/raft"),
    Defect(
        "epoch_granted_in_silence", "KAFKA-16952", (QUORUM,), ("D631-08",),
        ("quorum-lost", "sleeping-leader", "cut-from-controllers-cut"), f"{_Q}/controller",
    ),
    Defect(
        "quick_restart_refused", "KAFKA-19047", (ZK,), ("DINT-17", "LIVE-01"),
        ("bounce-unseen", "bounce-inside-the-session", "rolling-restart"), "tests/cluster_impl/designs/on_zookeeper",
    ),
    Defect(
        "live_brokers_given_up", "KAFKA-15019", (QUORUM,), ("K631-51", "D631-07", "LIVE-01"),
        ("half-a-lease", "leader-disk-slow", "cut-from-controllers-replies"), f"{_Q}/controller",
    ),
    Defect(
        "never_caught_up_while_busy", "KAFKA-13959", (QUORUM,), ("D631-11", "K631-42"),
        ("starts-behind", "starts-fenced", "everything-killed"), f"{_Q}/controller",
    ),
    Defect(
        "empty_isr_recorded", "KAFKA-708", (QUORUM,), ("ISR-03", "ACK-01"), ("everything-killed", "emptied-follower"),
        f"{_Q}/controller",
    ),
    Defect(
        "empty_isr_written", "KAFKA-708", (ZK,), ("ISR-03", "ACK-01"),
        ("outside-the-isr", "everything-killed", "brokers-killed-in-turn"),
        f"{_ZK}/controller",
    ),
    Defect(
        "isr_frozen_at_known_version", "KAFKA-2729", (ZK,), ("ISR-05", "ISR-06"),
        ("slow-follower-at-base", "slow-follower", "links-deaf-follower"), _R,
    ),
    Defect(
        "late_isr_answer_adopted", "KAFKA-12686", WITH_CONTROLLER, ("ISR-02", "ISR-04", "HW-02"),
        ("isr-change-answered-late", "isr-change-overtaken", "isolated-leader", "isr-change-reply-lost"), _R,
    ),
    Defect(
        "fenced_broker_joins_isr", "KAFKA-13916", (QUORUM,), ("D631-20",), ("stale-requests",), f"{_Q}/controller"
    ),
    Defect(
        "inactive_broker_joins_isr", "KAFKA-14140", (ZK,), ("D343-11",), ("silent-broker-cut", "silent-broker-stall"),
        f"{_ZK}/controller",
    ),
    Defect(
        "new_process_keeps_isr", "KAFKA-14139", (QUORUM,), ("DIR-04", "ISR-09"),
        ("emptied-and-alone", "emptied-follower", "restart-inside-the-lease", "duplicate-id-empty"), f"{_Q}/controller",
    ),
    Defect(
        "bounce_not_noticed", "KAFKA-1120", (ZK,), ("DINT-26", "ACK-01"),
        ("bounce-unseen", "bounce-inside-the-session", "bounce-beyond-the-session", "emptied-follower"),
        f"{_ZK}/controller",
    ),
    Defect(
        "emptied_replica_stands", "KAFKA-14139", (LEADER_DRIVEN,), ("DIR-04", "ISR-09"),
        ("emptied-and-alone", "emptied-follower"), "tests/cluster_impl/designs/leader_driven",
    ),
    Defect("unclean_successor", "KIP-966", (QUORUM,), ("ISR-09",), ("outside-the-isr",), f"{_Q}/controller"),
    Defect(
        "unclean_election", "KIP-966", (ZK,), ("ISR-09", "DINT-13"), ("outside-the-isr",),
        f"{_ZK}/controller",
    ),
    Defect(
        "commits_below_min_isr", "KAFKA-15583", ALL, ("ISR-08", "HW-02"),
        ("below-min-isr", "slow-follower", "links-bridge"), _R,
    ),
    Defect(
        "fenced_last_leader", "KAFKA-19522", (QUORUM,), ("D631-07", "K631-32"),
        ("outside-the-isr", "quorum-lost", "everything-killed"), f"{_Q}/controller",
    ),
    Defect(
        "shutdown_never_granted", "KAFKA-999", (QUORUM,), ("K631-37",),
        ("controlled-shutdown", "rolling-restart"), f"{_Q}/controller",
    ),
    Defect(
        "shutdown_always_remains", "KAFKA-999", (ZK,), ("DINT-24", "DINT-25"), ("controlled-shutdown-in-turn",),
        f"{_ZK}/controller",
    ),
    Defect(
        "leads_on_in_shutdown", "KAFKA-14296", (QUORUM,), ("LEAD-02", "ISR-01"),
        ("controlled-shutdown", "rolling-restart"), f"{_Q}/broker",
    ),
    Defect(
        "own_folders_are_strays", "KAFKA-13127", (QUORUM,), ("DIR-05",), ("stopped-follower", "rolling-restart"), _R
    ),
    Defect(
        "leads_again_in_its_epoch", "KAFKA-10527", (QUORUM,), ("CTRL-01", "K631-15"),
        ("controllers-lose-power", "active-controller-killed", "everything-killed"), f"{_Q}/raft",
    ),
    Defect(
        "committed_metadata_truncated", "KAFKA-12460", (QUORUM,), ("K631-15",), ("controllers-lose-power",),
        f"{_Q}/raft",
    ),
    Defect(
        "snapshot_not_fetched", "", (QUORUM,), ("D631-30", "K631-23"), ("snapshot-fetched",), f"{_Q}/raft",
    ),
    Defect(
        "snapshots_not_found", "", (QUORUM,), ("K631-23",), ("snapshot-killed",), f"{_Q}/raft",
    ),
    Defect(
        "metadata_cut_past_snapshot", "KAFKA-14238", (QUORUM,), ("D631-30", "LIVE-07"),
        ("snapshot-killed", "everything-killed"), f"{_Q}/raft",
    ),
    Defect("metadata_gap_accepted", "KAFKA-14240", (QUORUM,), ("D631-29",), ("lost-snapshots",), f"{_Q}/raft"),
    Defect(
        "level_not_compared", "", (QUORUM,), ("K631-21", "D631-42"), ("metadata-format-raised",),
        f"{_Q}/controller/test_acls.py::test_below_level_2_there_are_no_entries",
    ),
    Defect(
        "allow_wins_over_deny", "", (QUORUM,), ("D631-43",), ("metadata-format-raised",),
        f"{_SEC}/test_access_control.py::test_deny_wins_over_allow_whatever_pattern_each_has",
    ),
    Defect(
        "prefixes_match_literally", "", (QUORUM,), ("D631-43",), ("metadata-format-raised",),
        f"{_SEC}/test_access_control.py::"
        "test_a_prefix_covers_the_names_that_begin_with_it_and_a_literal_star_all",
    ),
    Defect(
        "entries_not_enforced_by_brokers", "", (QUORUM,), ("D631-43",), ("metadata-format-raised",), f"{_Q}/broker",
    ),
    Defect(
        "brokers_not_observers", "", (QUORUM,), ("D631-33",), ("metadata-format-raised",),
        f"{_Q}/raft/test_describe.py::test_brokers_that_fetch_are_observers_until_they_are_silent",
    ),
    Defect(
        "other_voters_not_described", "", (QUORUM,), ("K631-11",), ("changes-are-records",),
        f"{_Q}/raft/test_describe.py::test_the_leader_itself_has_caught_up_and_voters_as_their_fetches_say",
    ),
    Defect(
        "changed_topic_settings_unread", "", (LEADER_DRIVEN,), ("DLD-52",), ("v2-topics-administered",),
        "tests/cluster_impl/designs/leader_driven/broker/test_broker_settings.py::"
        "test_the_replicas_of_a_changed_topic_are_notified_and_of_no_other",
    ),
    Defect(
        "entries_lost_in_failover", "", (QUORUM,), ("K631-66",), ("metadata-format-raised",), f"{_Q}/controller",
    ),
    Defect(
        "isolated_leader_never_resigns", "KAFKA-15489", (QUORUM,), ("CTRL-05",), ("isolated-controller",),
        f"{_Q}/raft",
    ),
    Defect("foreign_vote_accepted", "KAFKA-12440", (QUORUM,), ("CTRL-06",), ("stale-requests",), f"{_Q}/raft"),
    Defect(
        "wiped_voter_votes", "KAFKA-12181", (QUORUM,), ("CTRL-07", "CTRL-01"),
        ("lost-vote", "controllers-lose-power"), f"{_Q}/raft",
    ),
    Defect(
        "unstored_vote_given", "", (QUORUM,), ("DISK-08",), ("vote-not-stored",),
        f"{_Q}/raft/test_quorum_state_file.py::test_a_vote_that_cannot_be_renamed_is_an_error_and_the_old_one_stays",
    ),
    Defect(
        "election_without_jitter", "KAFKA-18345", (QUORUM,), ("LIVE-02",),
        ("election-on-slow-links", "active-controller-killed", "everything-killed"), f"{_Q}/raft",
    ),
    Defect(
        "leases_judged_by_one_picture", "KAFKA-13173", (QUORUM,), ("ISR-01", "D631-07"),
        ("controller-and-brokers-killed",), f"{_Q}/controller",
    ),
    Defect(
        "failover_fences_live_brokers", "KAFKA-16757", (QUORUM,), ("D631-04",), ("active-controller-killed",),
        f"{_Q}/controller",
    ),
    Defect(
        "repeated_isr_change_refused", "KAFKA-14144", (ZK,), ("D343-09",), ("isr-change-reply-lost",),
        f"{_ZK}/controller",
    ),
    Defect("high_watermark_left_behind", "KAFKA-13091", ALL, ("ISR-05",), ("lone-record-after-a-shrink",), _R),
    Defect(
        "checkpoint_lost_in_clean_stop", "KAFKA-858", ALL, ("DIR-05", "HW-06"),
        ("below-min-isr", "stopped-follower", "rolling-restart"), _R
    ),
    Defect(
        "crash_taken_for_clean_stop", "KAFKA-15375", ALL, ("DSTO-04", "ACK-01"), ("stopped-follower",),
        f"{_S}/test_clean_stop.py::test_a_crash_after_a_start_is_never_taken_for_a_clean_stop",
    ),
    Defect(
        "deletion_known_to_leader_alone", "", ALL, ("DSTO-09",), ("stopped-follower",),
        f"{_R}/test_log_start.py::test_a_deletion_waits_for_an_in_sync_replica_that_does_not_fetch",
    ),
    Defect(
        "first_of_a_key_kept", "", ALL, ("DSTO-11", "DSTO-14", "GRP-01"),
        ("last-of-each-key", "group-coordinator-killed"),
        f"{_S}/test_compaction.py::test_the_last_record_of_each_key_stays_at_its_offset",
    ),
    Defect(
        "damaged_index_believed", "", ALL, ("DSTO-05",), ("log-start-moves",),
        f"{_S}/test_clean_stop.py::test_an_index_that_is_not_as_it_was_written_is_made_anew",
    ),
    Defect("retention_below_its_limit", "", ALL, ("DSTO-08",), ("log-start-moves",), f"{_S}/test_log_start.py"),
    Defect(
        "log_start_not_recorded", "", ALL, ("DSTO-07",), ("log-start-moves",),
        f"{_S}/test_directory.py::test_where_a_log_begins_is_written_at_once",
    ),
    Defect("log_before_the_start_kept", "", ALL, ("DSTO-10",), ("log-start-moves",), f"{_R}/test_log_start.py"),
    Defect("compacted_in_place", "", ALL, ("DSTO-12",), ("last-of-each-key",), _S),
    Defect(
        "last_batch_of_a_producer_removed", "", ALL, ("DSTO-13",), ("last-of-each-key",),
        f"{_S}/test_compaction.py::test_the_last_batch_of_a_producer_stays_though_it_is_empty",
    ),
    Defect("metadata_not_flushed", "KAFKA-10533", (QUORUM,), ("K631-15",), ("controllers-lose-power",), f"{_Q}/raft"),
    Defect(
        "pre_vote_left_out", "KIP-996", (QUORUM,), ("CTRL-01",), ("isolated-controller", "minority-side"), f"{_Q}/raft"
    ),
    Defect(
        "log_dir_failure_not_reported", "KAFKA-16297", (ZK,), ("RSE-19", "LIVE-01"),
        ("log-dir-fails-on-a-leader", "one-of-two-disks-fails"), f"{_ZK}/broker",
    ),
    Defect(
        "uncommitted_shown_by_follower", "", ALL, ("DRACK-03", "DRACK-04"), ("rack-reads-on",),
        "tests/cluster_impl/api/test_read_replica.py::"
        "test_a_follower_does_not_show_a_record_before_it_is_committed",
    ),
    Defect(
        "laggard_named_to_clients", "KAFKA-14372", (QUORUM,), ("DRACK-02",), ("rack-reads-on",),
        f"{_R}/test_read_replica.py::test_only_a_live_in_sync_replica_that_has_the_offset_is_read",
    ),
    Defect(
        "follower_serves_before_leader", "", (LEADER_DRIVEN,), ("DRACK-05",), ("v2-new-leader-waits", "rack-reads-on"),
        "tests/cluster_impl/api/test_read_replica.py::"
        "test_a_follower_of_a_leader_that_is_not_ready_serves_no_client",
    ),
    Defect(
        "commits_sent_with_the_next_fetch", "", ALL, ("DRACK-06",), ("rack-reads-on",),
        "tests/cluster_impl/api/test_read_replica.py::"
        "test_a_client_that_waits_at_a_follower_gets_a_record_once_it_is_committed",
    ),
    # Claims of every run.
    Defect(
        "end_shown_too_early", "KAFKA-2334", WITH_CONTROLLER, ("HW-01",),
        ("empty-behind-the-successor", "isolated-leader", "everything-killed"), "tests/cluster_impl/api",
    ),
    Defect(
        "resigns_over_refused_topic", "KAFKA-14996", (QUORUM,), ("CTRL-04", "CTRL-02"),
        ("refused-topics", "stale-requests"),
        f"{_Q}/controller",
    ),
    Defect(
        "earlier_batches_forgotten", "finding 05", ALL, ("CRD-06",), ("batches-retried",),
        "tests/cluster_impl/storage",
    ),
    # Coordinators of groups.
    Defect(
        "former_member_commits", "KAFKA-9752", ALL, ("GRP-02",), ("group-coordinator-paused",),
        "tests/cluster_impl/api/test_group.py",
    ),
    Defect(
        "committed_offsets_not_loaded", "KAFKA-19862", ALL, ("GRP-01",), ("group-coordinator-killed",),
        "tests/cluster_impl/api/test_coordinator.py::test_committed_offsets_outlive_their_coordinator",
    ),
    Defect(
        "offsets_answered_while_loading", "", ALL, ("DSTO-15", "GRP-01"), ("group-coordinator-killed",),
        f"{_R}/test_compaction.py::test_a_new_coordinator_loads_in_slices_and_refuses_until_it_knows_all_offsets",
    ),
    Defect(
        "deletion_of_a_group_not_logged", "", ALL, ("DSTO-16",), ("group-coordinator-killed",),
        "tests/cluster_impl/api/test_coordinator.py::test_a_deleted_group_is_gone_also_for_the_next_coordinator",
    ),
    Defect(
        "named_voters_not_learned", "", (QUORUM,), ("K631-05", "K631-06"), ("controller-replaced",),
        f"{_Q}/broker/test_finder.py::"
        "test_a_controller_that_the_quorum_named_is_believed_though_it_is_not_configured",
    ),
    Defect(
        "dead_controller_kept", "", (QUORUM,), ("K631-13", "K631-05", "K631-03"),
        ("combined-nodes", "active-controller-killed"),
        f"{_Q}/broker/test_finder.py::test_it_believes_what_was_reported_last_until_that_fails",
    ),
    Defect(
        "topic_settings_read_once", "", (ZK,), ("META-01",), ("topic-deleted-while-away",),
        f"{_ZK}/broker/test_config_notifications.py::"
        "test_a_client_that_asks_gets_what_is_written_though_no_notification_came_yet",
    ),
    # Heartbeats, sent by hand.
    Defect(
        "lease_by_the_controllers_clock", "", (QUORUM,), ("K631-56",), ("drafted-requests",),
        f"{_Q}/controller/test_heartbeats.py::"
        "test_the_lease_ends_one_lease_period_after_the_start_that_the_request_named",
    ),
    Defect(
        "stale_metadata_accepted", "", (QUORUM,), ("K631-27", "D631-10"), ("drafted-requests",),
        f"{_Q}/controller/test_heartbeats.py::test_a_broker_becomes_active_only_once_it_has_reached_its_own_record",
    ),
    Defect(
        "awaited_id_given_back", "", (QUORUM,), ("D631-26",), ("id-awaited-by-a-partition",),
        f"{_Q}/controller",
    ),
    Defect(
        "permission_not_asked", "", (QUORUM,), ("K631-10",), ("logins-between-nodes",),
        f"{_SEC}/test_cluster_action.py::test_a_controller_does_nothing_for_a_sender_without_the_permission",
    ),
    # Records of the metadata log.
    Defect(
        "settings_twice_in_snapshot", "", (QUORUM,), ("K631-22",), ("snapshot-fetched",),
        f"{_Q}/test_snapshot_records.py::test_a_snapshot_has_one_record_for_each_entity",
    ),
    Defect(
        "epoch_kept_outside_isr", "KAFKA-15221", (QUORUM,), ("D631-25",), ("changes-are-records",),
        f"{_Q}/controller/test_alter_isr.py::"
        "test_only_the_process_that_caught_up_joins_not_one_that_took_its_id_since",
    ),
    Defect(
        "deleted_in_one_batch", "", (QUORUM,), ("D631-41",), ("changes-are-records",),
        f"{_Q}/controller/test_controller.py::test_a_deletion_is_answered_when_the_topic_is_gone_and_marked_before",
    ),
    Defect(
        "placed_without_racks", "", (QUORUM,), ("D631-32",), ("changes-are-records",),
        f"{_Q}/controller/test_topics.py::test_replicas_of_a_new_topic_are_spread_over_racks",
    ),
    # Data plane and records, each seen by a step that names its rule.
    Defect(
        "missing_directory_made_again", "", (ZK, LEADER_DRIVEN), ("DSTO-01",),
        ("one-of-two-disks-fails",),
        f"{_S}/test_log_dirs.py::test_a_missing_folder_is_never_made_anew_once_the_node_has_run",
    ),
    Defect(
        "newest_time_lost_in_clean_stop", "", ALL, ("DSTO-03",), ("log-start-moves",),
        f"{_S}/test_clean_stop.py::test_after_a_clean_stop_nothing_is_read_and_all_answers_are_the_same",
    ),
    Defect(
        "segment_age_ignored", "", ALL, ("DSTO-06",), ("log-start-moves",),
        f"{_S}/test_clean_stop.py::test_a_segment_ends_before_a_record_that_is_too_much_newer_than_its_first",
    ),
    Defect(
        "racks_not_shown", "", ALL, ("DRACK-01",), ("rack-reads-on",),
        "tests/cluster_impl/api/test_read_replica.py::"
        "test_a_client_in_the_rack_of_a_follower_is_sent_there_without_records",
    ),
    Defect(
        "follower_reads_in_any_epoch", "", ALL, ("DRACK-05",), ("rack-reads-on",),
        "tests/cluster_impl/api/test_fetch.py::test_a_position_or_an_epoch_that_is_not_there_is_refused",
    ),
    Defect(
        "cancelled_move_goes_on", "", (QUORUM,), ("ADM-05",), ("administrators-ask",),
        f"{_Q}/controller/test_reassignment.py::"
        "test_a_cancelled_reassignment_drops_the_added_replicas_also_from_the_isr",
    ),
    Defect(
        "metadata_records_with_keys", "", (QUORUM,), ("K631-19",), ("changes-are-records",),
        f"{_Q}/raft/test_metadata_log.py::test_records_have_values_and_no_keys",
    ),
    Defect(
        "deleted_topic_stays_known", "", (QUORUM,), ("K631-68",), ("changes-are-records",),
        f"{_Q}/test_image.py::test_a_topic_made_again_begins_above_every_leader_epoch_of_the_earlier_one",
    ),
    # Requests of administrators; random plans make them, too.
    Defect(
        "validated_change_made", "", (QUORUM,), ("ADM-01",), ("administrators-ask",),
        f"{_Q}/controller/test_configs.py::test_a_request_that_only_validates_writes_nothing",
    ),
    Defect(
        "default_wipes_overrides", "KAFKA-9254", (QUORUM,), ("ADM-04",), ("administrators-ask",),
        f"{_Q}/broker/test_metadata.py::test_a_setting_reaches_the_replicas_that_it_is_for_when_it_is_committed",
    ),
    Defect(
        "metadata_name_given", "KAFKA-14358", (QUORUM,), ("ADM-02",), ("administrators-ask",),
        f"{_Q}/controller/test_topics.py::test_a_topic_that_cannot_be_is_refused_and_changes_nothing",
    ),
    # Nodes that do not come back, and nodes that do not go as they were asked to.
    Defect(
        "hangs_on_what_it_finds", "", (QUORUM,), ("LIVE-01", "LIVE-07"), ("restart-inside-the-lease",),
        f"{_Q}/broker/test_node.py::test_a_broker_that_finds_partitions_on_its_disk_listens",
    ),
    Defect(
        "fails_as_it_stops", "", (QUORUM,), ("LIVE-07",), ("controlled-shutdown",),
        f"{_Q}/broker",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class NotPlanted:
    """A bug of Apache Kafka that no design here can have, and why."""

    kafka: str
    defect: str
    why: str


NOT_PLANTED: tuple[NotPlanted, ...] = ()


def named(name: str) -> Defect:
    """Return the defect of this name. KeyError if there is none."""
    return {defect.name: defect for defect in DEFECTS}[name]
