"""Each planted defect is seen by the test that states the guarantee it breaks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from suites.stories import told_to
from suites.story import TargetFacts
from tests.mutants import stories
from tests.mutants.planting import VARIABLE

ROOT = Path(__file__).parents[2]
QUORUM = "tests/cluster_impl/designs/quorum"
ZK = "tests/cluster_impl/designs/zk_controller"
REPLICATION = "tests/cluster_impl/replication"
LEADER_DRIVEN = "tests/mutants/test_leader_driven_guarantees.py"

SEEN_BY = {
    "no_self_fence": f"{QUORUM}/broker/test_lifecycle.py::"
    "test_a_process_that_slept_through_its_lease_is_fenced_before_any_timer_runs",
    "initial_loses": f"{QUORUM}/controller/test_heartbeats.py::"
    "test_initial_takes_the_id_at_once_and_the_elder_leaves_every_isr_in_the_same_batch",
    "fetch_foreign_epoch_credited": f"{REPLICATION}/test_cluster.py::"
    "test_a_fetch_of_another_incarnation_commits_nothing",
    "stale_epoch_accepted_in_alter_isr": f"{QUORUM}/controller/test_alter_isr.py::"
    "test_each_guard_refuses_with_its_error_and_changes_nothing",
    "reply_before_commit": f"{QUORUM}/controller/test_controller.py::"
    "test_a_granted_epoch_is_not_shown_before_its_record_is_committed",
    "deposed_renews": f"{QUORUM}/controller/test_controller.py::"
    "test_a_renewal_waits_for_a_majority_asked_after_it_arrived",
    "follower_does_not_truncate": f"{REPLICATION}/test_cluster.py::"
    "test_a_deposed_leader_loses_only_what_nobody_else_took",
    "incarnation_not_compared": f"{ZK}/controller/test_broker_heartbeats.py::"
    "test_an_earlier_incarnation_is_refused_also_by_the_next_controller",
    "fenced_broker_answers": f"{ZK}/broker/test_lifecycle.py::"
    "test_a_process_that_slept_through_the_timeout_is_fenced_before_any_timer_runs",
    "controller_epoch_not_compared": f"{ZK}/broker/test_orders.py::"
    "test_a_newer_controller_shuts_the_older_one_out_also_by_a_request_without_partitions",
    "compare_and_set_dropped": f"{ZK}/broker/test_isr_writes.py::"
    "test_a_leader_that_was_given_up_fails_to_shrink_and_changes_nothing",
    "legacy_broker_fenced": f"{ZK}/test_ibp.py::test_a_level_turns_on_what_it_is_for_and_what_came_before",
    "earlier_session_is_foreign": f"{ZK}/broker/test_registration_kept.py::"
    "test_a_broker_waits_for_the_znode_of_its_own_earlier_session_to_go",
    "silence_taken_for_refusal": "tests/cluster_impl/designs/on_zookeeper/test_ephemeral.py::"
    "test_a_process_that_hears_nothing_waits_on_and_takes_what_it_finds_free",
    "event_of_an_earlier_epoch_applied": f"{ZK}/controller/test_replica_state_event_requests.py::"
    "test_an_event_of_a_process_that_was_restarted_since_is_stopped",
    "notification_watch_left_on": f"{ZK}/controller/test_startup_watches.py::"
    "test_notifications_of_log_dirs_are_watched_below_the_level_of_replica_events_only",
    "start_replica_epoch_not_checked": f"{LEADER_DRIVEN}::"
    "test_a_request_of_an_earlier_epoch_starts_nothing_and_closes_all_the_same",
    "close_dropped_by_shrink": f"{LEADER_DRIVEN}::"
    "test_a_full_queue_keeps_of_each_partition_the_latest_that_has_to_be_closed",
    "isr_written_without_epoch": f"{LEADER_DRIVEN}::test_each_winner_has_an_epoch_that_nobody_had_before",
    "isr_overwritten": f"{LEADER_DRIVEN}::test_an_isr_is_not_written_over_another_version",
    "election_outside_isr": f"{LEADER_DRIVEN}::test_a_replica_outside_the_isr_does_not_win",
    "leads_on_without_session": f"{LEADER_DRIVEN}::test_a_leader_whose_session_is_over_leads_nothing",
    "isr_version_kept": f"{LEADER_DRIVEN}::test_a_leader_changes_its_isr_as_often_as_it_has_to",
    "acknowledged_before_isr": f"{REPLICATION}/test_rules.py::"
    "test_what_is_written_after_that_waits_for_every_in_sync_replica",
    "truncated_to_the_beginning": f"{REPLICATION}/test_rules.py::"
    "test_a_follower_cuts_its_log_to_its_own_high_watermark_and_asks_nobody",
    "high_watermark_zeroed": f"{REPLICATION}/test_cluster_v2.py::"
    "test_a_restart_begins_at_the_high_watermark_that_was_written_down_or_at_the_end_if_that_is_lower",
}


def run_test(test: str, mutant: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "tests.mutants.planting", test]
    environment = {**os.environ, VARIABLE: mutant}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.integration
@pytest.mark.parametrize("mutant", SEEN_BY)
def test_a_planted_defect_turns_the_test_of_its_guarantee_red(mutant: str) -> None:
    run = run_test(SEEN_BY[mutant], mutant)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout
    assert "1 failed" in run.stdout


def test_every_mutant_is_listed() -> None:
    folder = Path(__file__).parent
    modules = {path.stem for path in folder.glob("*.py") if "def apply()" in path.read_text()}
    assert modules - {"test_mutants"} == set(SEEN_BY)


def test_the_stories_that_see_a_mutant_are_told_to_its_target() -> None:
    for mutant, (target, slug) in stories.SEEN_BY.items():
        assert mutant in SEEN_BY
        assert slug in {story.slug for story in told_to(TargetFacts.of(target))}
