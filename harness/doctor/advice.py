"""The lines of a target file that the answers of its broker ask for."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from fencepost.faults.capabilities import ORDERLY, exit_in_words
from fencepost.harness.doctor.broker import END_SECONDS, Answers
from fencepost.harness.plan.needed_requests import CLASSIC, COORDINATED, TRANSACTIONAL
from fencepost.harness.targets.file import TargetFile

WORKLOADS: Mapping[str, Collection[str]] = {
    "groups": (*COORDINATED, *CLASSIC),
    "transactions": TRANSACTIONAL,
}
"""The requests without which a broker serves no such clients."""


@dataclass(frozen=True)
class Advice:
    """A line for the target file, or nothing if no line mends it, and the reason.

    `wrong`: the file says what does not hold, so that runs fail. Else more could be asked of the broker.
    """

    line: str
    why: str
    wrong: bool = True


def advice(file: TargetFile, answers: Answers, needed: Mapping[str, str]) -> list[Advice]:
    """Return what to write. `needed`: the requests that the scenarios of the target need, each with what needs it."""
    return [
        *_of_ids(file, answers),
        *_of_listeners(file, answers),
        *_of_requests(file, answers, needed),
        *_of_end(file, answers),
        *_of_workloads(file, answers),
        *_of_files(file, answers),
    ]


def served_workloads(offered: Collection[str]) -> list[str]:
    """Return the clients of which all requests are offered."""
    return [kind for kind, requests in WORKLOADS.items() if set(requests) <= set(offered)]


def _of_ids(file: TargetFile, answers: Answers) -> Iterator[Advice]:
    listed = ", ".join(f"{id} at {place}" for id, place in answers.listed.items())
    if not listed:
        yield Advice("", f"{answers.node} lists no broker in its Metadata, itself neither")
    elif not answers.listed.keys() & set(file.brokers.ids):
        ids, known = (", ".join(map(str, each)) for each in (answers.listed, file.brokers.ids))
        why = f"{answers.node} lists {listed}, and the ids of the file are {known}"
        yield Advice(f"brokers: {{ids: [{ids}]}}", why)


def _of_listeners(file: TargetFile, answers: Answers) -> Iterator[Advice]:
    own = answers.listed.get(answers.id) or next(iter(answers.listed.values()), answers.advertised)
    if own != answers.advertised:
        yield Advice(
            "{{ advertised_client }}",
            f"{answers.node} sends clients to {own}, past the link at {answers.advertised}: give its command line or "
            "its configuration this variable",
        )
    if not file.one_listener and not answers.at_peer_port:
        yield Advice("one_listener: true", f"{answers.node} answers ApiVersions at no other port than that for clients")


def _of_requests(file: TargetFile, answers: Answers, needed: Mapping[str, str]) -> Iterator[Advice]:
    lacks = sorted(needed.keys() - answers.offered.keys())
    declared = set(file.missing_requests)
    line = f"missing_requests: [{', '.join(sorted({*lacks, *(declared - answers.offered.keys())}))}]"
    if undeclared := [request for request in lacks if request not in declared]:
        named = ", ".join(f"{request} ({needed[request]})" for request in undeclared)
        yield Advice(line, f"{answers.node} lacks requests that scenarios need: {named}")
    if served := sorted(declared & answers.offered.keys()):
        yield Advice(line, f"{answers.node} serves {', '.join(served)}")


def _of_end(file: TargetFile, answers: Answers) -> Iterator[Advice]:
    if answers.exit_code is None:
        yield Advice("", f"{answers.node} still ran {END_SECONDS:g} s after SIGTERM", wrong=False)
    elif answers.exit_code not in (*ORDERLY, *file.exit_codes):
        why = f"{answers.node} ended with {exit_in_words(answers.exit_code)} on SIGTERM: if that is no error, write it"
        yield Advice(f"exit_codes: [{answers.exit_code}]", why)


def _of_workloads(file: TargetFile, answers: Answers) -> Iterator[Advice]:
    served = served_workloads(answers.offered)
    if more := [kind for kind in served if kind not in file.workloads]:
        all_of_them = json.dumps(dict.fromkeys([*file.workloads, *more])).replace('"', "")
        yield Advice(
            f"workloads: {all_of_them}", f"{answers.node} has all requests of {' and '.join(more)}", wrong=False
        )


def _of_files(file: TargetFile, answers: Answers) -> Iterator[Advice]:
    kept = file.promises.survives in ("stop", "kill", "power-loss") and not file.services
    if kept and not answers.files and answers.creation == "none":
        yield Advice(
            "promises: {survives: pause}",
            f"{answers.node} wrote no file, and the file promises that records survive `{file.promises.survives}`",
            wrong=False,
        )
