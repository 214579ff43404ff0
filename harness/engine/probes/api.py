"""The probe that sends a request of any API, as the plan has it written out."""

from __future__ import annotations

from fencepost.harness.clients.raw import RawConnection
from fencepost.harness.clients.versions import Api
from fencepost.harness.engine.errors import StepError
from fencepost.harness.engine.probes.answer import ProbeAnswer
from fencepost.harness.engine.probes.claims import judge_claims
from fencepost.harness.engine.references import References
from fencepost.harness.plan import messages
from fencepost.harness.plan.probes import ApiProbe

LONGEST = 2000
"""Characters of a response that the journal keeps."""


def ask_api(probe: ApiProbe, connection: RawConnection, references: References) -> ProbeAnswer:
    """Send the request at the newest version that both sides know, and compare the values that the plan names.

    Raise NotOffered if the node has no such version, StepError if the body does not fit the one that it has.
    """
    known = messages.versions(probe.api)
    high = known[-1] if probe.version is None else min(probe.version, known[-1])
    version = connection.newest_version(Api(messages.APIS[probe.api], probe.api, probe.api, known[0], high))
    request, response = messages.payload_types(probe.api, version)
    try:
        sent = messages.build(request, probe.body, references.bound_value)
    except messages.MessageError as error:
        raise StepError(f"version {version} of {probe.api}: {error}") from None
    answer = messages.plain(connection.call(sent, response))
    text = str(answer)
    shown = answer if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    claims_errors = any(path.endswith("error_code") for path in probe.answer)
    code = 0 if claims_errors else messages.first_error(answer)
    return judge_claims(probe, answer, references, code, api=probe.api, version=version, response=shown)
