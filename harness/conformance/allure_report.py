"""What a story leaves in an Allure report: labels, the plan's steps with their outcomes, and the run's small files."""

from __future__ import annotations

import allure
from allure_commons.types import AttachmentType

from harness.plan.model import Plan
from harness.reproduction.command import replay_command
from results.records.folder import RunFolder
from results.records.journal import read_journal
from results.records.verdict import RunVerdict

EXCERPT_BYTES = 200_000
"""Larger files are linked, not attached."""


def label(plan: Plan, section: str) -> None:
    """Epic, feature and story; the seed is no part of what makes a test the same test."""
    allure.dynamic.epic(plan.document)
    allure.dynamic.feature(section)
    allure.dynamic.story(plan.title)
    allure.dynamic.title(plan.title)
    allure.dynamic.tag(*plan.requirements)
    allure.dynamic.parameter("target", plan.target)
    allure.dynamic.parameter("seed", plan.seed, excluded=True)


def attach(plan: Plan, folder: RunFolder, verdict: RunVerdict) -> None:
    for event in read_journal(folder.journal).of("step", "end"):
        with allure.step(f"{event.id}: {event.data.get('outcome', 'ended')} at {event.t:.2f} s"):
            pass
    allure.attach(replay_command(folder), "again", AttachmentType.TEXT)
    for path, kind in ((folder.verdict, AttachmentType.JSON), (folder.plan, AttachmentType.YAML)):
        if path.is_file() and path.stat().st_size <= EXCERPT_BYTES:
            allure.attach.file(str(path), path.name, kind)
    allure.dynamic.link(folder.report.resolve().as_uri(), name="report")
