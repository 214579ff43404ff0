"""References of a plan that stand for nothing are errors of the step that uses them, and not of the harness."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.engine.errors import StepError
from tests.harness.engine.still_context import healthy, still_context


def test_a_name_that_no_answer_gave_a_value_is_an_error_of_the_step(tmp_path: Path) -> None:
    references = still_context(tmp_path, healthy()).references
    references.bound["directory"] = "a"
    assert references.value("$directory") == "a"
    for resolve in (references.value, references.nodes, lambda ref: references.number(ref, "an epoch", lambda: 0)):
        with pytest.raises(StepError, match=r"`\$lost` stands for nothing: the step that binds it got no answer"):
            resolve("$lost")
