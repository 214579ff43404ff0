"""The plan in a run folder: as YAML for people, and as JSON for programs, which read it fifty times as fast."""

from __future__ import annotations

import hashlib
import json

from ruamel.yaml import YAML

from fencepost.harness.plan.file import dump_plan
from fencepost.harness.plan.hash import hash_of, plain
from fencepost.harness.plan.model import Plan
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.formats import upgrade_plan


def save_plan(folder: RunFolder, plan: Plan) -> None:
    """Write both files of the plan."""
    folder.plan.write_text(dump_plan(plan), encoding="utf-8")
    folder.plan_data.write_text(json.dumps(plain(plan)), encoding="utf-8")


def saved_plan(folder: RunFolder, manifest: Manifest) -> tuple[str, Plan]:
    """Return the text and the model of the plan. It was checked before the run, so only its schema is checked here.

    The JSON counts if both files are as they were written, by their hashes in the manifest. Raise OSError, YAMLError,
    and ValueError (also as ValidationError) for a file that is no plan.
    """
    text = folder.plan.read_text(encoding="utf-8")
    if manifest.hashes.get(folder.plan.name) == hashlib.sha256(text.encode()).hexdigest():
        try:
            data = json.loads(folder.plan_data.read_bytes())
            if hash_of(data) == manifest.plan_hash:
                return text, Plan.model_validate(data)
        except (OSError, ValueError):
            pass  # the run of an earlier version, which wrote no JSON, or a damaged file
    # Plans are YAML 1.2; the parser in C, which is taken where it is installed, is of YAML 1.1 and refuses some.
    data = YAML(typ="safe", pure=True).load(text)
    if not isinstance(data, dict):
        raise ValueError("it is no plan")
    upgrade_plan(data)
    return text, Plan.model_validate(data)
