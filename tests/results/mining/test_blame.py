"""How probable it is that a branch made a test fail, and when reruns would tell."""

from __future__ import annotations

import pytest

from fencepost.results.mining.blame import MOST_RERUNS, PRIOR, Blame, BuildOfBase, Failure


def failure(head: tuple[int, int], *base: tuple[int, int]) -> Failure:
    """Return a test that failed so many of so many times, on the head and on each build of the base."""
    failed, attempts = head
    builds = tuple(BuildOfBase(of_build, failed_on_build) for failed_on_build, of_build in base)
    return Failure({"attempts": attempts, "failed_attempts": failed}, builds)


HEALTHY, FLAKY, BROKEN = [(0, 1)] * 200, [(3, 10)] * 10, [*[(0, 1)] * 20, (3, 3)]


@pytest.mark.parametrize(
    ("head", "base", "blame"),
    [
        ((1, 1), HEALTHY, Blame.NEW),
        ((3, 3), HEALTHY, Blame.NEW),
        ((1, 1), FLAKY, Blame.FLAKE),
        ((1, 1), BROKEN, Blame.BROKEN),
        ((3, 3), BROKEN, Blame.BROKEN),
        ((4, 4), FLAKY, Blame.UNSURE),
        ((9, 9), FLAKY, Blame.NEW),
        ((1, 1), [], Blame.UNSURE),
    ],
)
def test_a_failure_is_new_known_or_not_known_yet(
    head: tuple[int, int], base: list[tuple[int, int]], blame: Blame
) -> None:
    assert failure(head, *base).blame is blame


def test_each_pass_on_the_base_and_each_failure_on_the_head_make_it_more_probable_that_it_is_new() -> None:
    by_passes = [failure((1, 1), *[(0, 1)] * passes).new for passes in (0, 1, 10, 100, 1000)]
    assert by_passes == sorted(by_passes) and by_passes[0] > PRIOR
    by_failures = [failure((failures, failures), *FLAKY).new for failures in range(1, 12)]
    assert by_failures == sorted(by_failures)


def test_a_test_that_was_always_broken_on_the_base_is_not_new() -> None:
    assert failure((1, 1), *[(1, 1)] * 30).new < 0.1


def test_reruns_are_fewer_the_more_it_failed_and_none_if_it_passed_or_is_broken_on_the_base() -> None:
    once, often = failure((1, 1), *HEALTHY).reruns, failure((4, 4), *HEALTHY).reruns
    assert once is not None and often is not None and 0 < often < once < MOST_RERUNS
    assert failure((1, 2), *HEALTHY).reruns == 0
    assert failure((1, 1), *BROKEN).reruns == 0


def test_single_runs_of_many_builds_that_fail_now_and_then_are_a_flake_and_failures_in_a_row_are_not() -> None:
    now_and_then = [(0, 1), (1, 1), (0, 1), (0, 1)] * 20
    assert failure((1, 1), *now_and_then).blame is Blame.FLAKE
    assert failure((1, 1), *[(0, 1)] * 30, *[(1, 1)] * 10).blame is Blame.BROKEN


def test_so_many_reruns_and_no_fewer_are_enough() -> None:
    needed = failure((1, 1), *FLAKY).reruns
    assert needed is not None
    assert failure((1 + needed, 1 + needed), *FLAKY).reruns == 0
    assert failure((needed, needed), *FLAKY).reruns == 1
