"""All plans are what they were: `python -m tests.suites.plan_hashes` says how the list is written anew."""

from __future__ import annotations

from tests.suites.plan_hashes import LIST, every_hash


def test_every_plan_has_the_hash_that_it_had() -> None:
    assert sorted(every_hash()) == sorted(LIST.read_text().splitlines())
