"""The key `health` of a target file: what a broker is asked for a sign of life, in place of ApiVersions."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from fencepost.faults.parameters import PlanModel
from fencepost.harness.targets.service import of_its_own


class Health(PlanModel):
    """A port at the address of the broker, and a request there that it answers while it is up."""

    port: Annotated[int, Field(ge=1024, le=32767), AfterValidator(of_its_own)]
    request: str = "GET / HTTP/1.0\r\n\r\n"
    """The text that is sent, `"GET /ready HTTP/1.0\\r\\n\\r\\n"`. An answer of HTTP has to be a success (2xx)."""

    @property
    def question(self) -> bytes:
        return self.request.encode()
