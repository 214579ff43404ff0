"""All steps, by the name that plans use. Each is a module of this package, which is found by itself.

A step that injects a fault, awaits a condition or sends a request is in the package of that word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, TypeAlias, Union

from pydantic import Field

from fencepost.harness.plan.conditions import Await
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.injects import Inject, InjectStep
from fencepost.harness.plan.requests import Probe
from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.steps.step import PlanStep
from fencepost.harness.plan.words import words_of

STEPS: Mapping[str, type[PlanStep]] = words_of(__name__, __path__, PlanStep)  # type: ignore[type-abstract]

if TYPE_CHECKING:
    Step: TypeAlias = PlanStep | InjectStep | AwaitStep | ProbeStep
else:
    Step = Annotated[Union[(*STEPS.values(), Inject, Await, Probe)], Field(discriminator="do")]  # made at run time
