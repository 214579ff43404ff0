"""The rows of the tables of the store, a class each: docstring and fields describe them.

A change is additive: a field that may be None, at the end of its class, and the table's version rises by one. Readers
see null in the rows of earlier versions. The data dictionary docs/results.md is made from this file.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class RunColumns:
    """The columns with which each table begins that has facts of runs."""

    date: Annotated[dt.date, "Day on which the run started, UTC. All tables are partitioned by it."]
    run_id: Annotated[str, "Identity of the run in all tables: the same for each publication of the same run."]
    test: Annotated[str, "Identity of the test, constant over its runs. All random plans are one test."]
    target: Annotated[str, "Name of the target; of imported results the name that was given, else `unknown`."]
    release: Annotated[str | None, "Release of the target, such as `3.9.1`."] = None
    build: Annotated[
        str | None,
        "Digest of the programs of the target, else its commit; of imported results the commit that was tested.",
    ] = None
    backend: Annotated[str, "`process` or `docker`; `none` for imported results."]
    verdict: Annotated[str, "Verdict of the run: `pass`, `violation`, `infrastructure` or `inconclusive`."]
    started_at: Annotated[dt.datetime, "Time at which the run started."]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One row for each run. It is written after the rows of the other tables: a run without it is not published."""

    source: Annotated[str, "`fencepost`, `junit`, `allure` or `retecs`."]
    suite: Annotated[str | None, "Document of the scenario's suite; of imported results the name of the suite."] = None
    scenario: Annotated[
        str | None,
        "Scenario of the plan; of a random plan its name. Null for imported results.",
    ] = None
    campaign: Annotated[str | None, "Folder of the campaign that the run is part of, else null."] = None
    title: Annotated[str | None, "Title of the scenario or test, in words."] = None
    run: Annotated[str, "Name of the run folder, or of the file of imported results."]
    folder: Annotated[str | None, "Path from which the run was published; the folder may be gone."] = None
    plan_hash: Annotated[str | None, "SHA-256 of the plan. Runs with the same one sent the same requests."] = None
    plan_steps: Annotated[int | None, "Number of steps of the plan."] = None
    seed: Annotated[int | None, "Seed of the plan."] = None
    attempt: Annotated[int, "1 for the first execution; further ones of the same plan or test count up."]
    parameters: Annotated[Mapping[str, str] | None, "Parameters of an imported test."] = None
    features: Annotated[
        Sequence[str] | None,
        "What the plan does: `fault:pause`, `step:produce`, `workload:transactions`.",
    ] = None
    nodes: Annotated[int | None, "Number of nodes of the plan."] = None
    commit: Annotated[str | None, "Commit of the harness; of imported results that of the tests."] = None
    harness: Annotated[str | None, "Version of the harness."] = None
    target_commit: Annotated[str | None, "Commit of the target, where it is known."] = None
    planted_defect: Annotated[str | None, "Mutant that the nodes ran with; null for healthy nodes."] = None
    branch: Annotated[str | None, "Branch of the CI job."] = None
    ci_system: Annotated[str | None, "CI system, such as `GitHub Actions`."] = None
    ci_job: Annotated[str | None, "Name of the CI job."] = None
    ci_commit: Annotated[str | None, "Commit of the repository of the CI job."] = None
    ci_url: Annotated[str | None, "Page of the CI job."] = None
    machine: Annotated[str | None, "Operating system of the machine."] = None
    cores: Annotated[int | None, "Cores that the run could use."] = None
    memory_mb: Annotated[int | None, "Memory of the machine, MiB."] = None
    starvation: Annotated[
        float | None,
        "Largest share of its time for which a node waited for a processor, 0 to 1.",
    ] = None
    left_out: Annotated[
        str | None,
        "Why scores leave the run out: `no node started`, `planted defect`; else null.",
    ] = None
    headline: Annotated[str | None, "The verdict in words."] = None
    signature: Annotated[str | None, "Signature of the weightiest finding that is not a pass; null for a pass."] = None
    duration_s: Annotated[float, "Duration of the run, seconds."]
    events: Annotated[int | None, "Events of the journal."] = None
    torn: Annotated[int | None, "Torn last lines of the journal, 0 or 1."] = None
    damaged: Annotated[int | None, "Unreadable lines in the middle of the journal."] = None
    published_at: Annotated[dt.datetime, "Time at which the run was published."]
    combinations: Annotated[
        Sequence[str] | None,
        "What the plan tries, as it shows before the run: `pause | leader | during cut | idempotent`.",
    ] = None
    report: Annotated[
        str | None,
        "Report of an imported result, or launch of Allure: its results are of one build, also where it is not known.",
    ] = None
    duration_unknown: Annotated[bool | None, "Its report does not have the duration; duration_s is 0."] = None
    attempts: Annotated[
        int | None,
        "Attempts of one run, each a row: the verdict of the last one is that of the run. Null for a run without.",
    ] = None
    runner: Annotated[str | None, "Runner of an imported result, where its report shows it: `pytest`, `Surefire`."] = (
        None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """One row for each finding that is not a pass, and for each pass that follows a listed difference of the target.

    The checks that passed are counted in `requirements`.
    """

    rule: Annotated[str | None, "Requirement that the check judges; null for a check of the run itself."] = None
    also: Annotated[Sequence[str] | None, "Further requirements that the same check judges."] = None
    check: Annotated[str, "Name of the check; of imported results `failure` or `error`."]
    finding: Annotated[str, "Verdict of the finding."]
    level: Annotated[str | None, "`must`, `may` or `never`."] = None
    difference: Annotated[str | None, "Listed difference of the target that the expectation follows."] = None
    title: Annotated[str | None, "Title of the finding."] = None
    message: Annotated[str, "Message of the finding, shortened to 4,000 characters."]
    masked: Annotated[str, "Message with numbers, addresses, times and other names of one run masked."]
    signature: Annotated[str, "Hash of check, rule and masked message: failures of one kind have the same."]
    masking: Annotated[int, "Version of the masking; signatures of different ones do not compare."]
    at_s: Annotated[float | None, "Time at which it showed, seconds since the run began."] = None
    basis: Annotated[str | None, "`presence`, `absence` or `fault`: the kind of evidence."] = None
    judged: Annotated[int | None, "Number of operations, records or answers that the check judged."] = None
    evidence: Annotated[str | None, "Evidence and counterexample as JSON, shortened to 20,000 characters."] = None
    part_of: Annotated[str | None, "Check of the finding that describes the same events as a whole."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRow:
    """One row for each fault of a run, node that it hit and role of that node. A fault that hit no node has one
    row."""

    fault: Annotated[str, "Name of the fault in its plan: together with run_id it identifies the fault."]
    kind: Annotated[str, "Kind of the fault, such as `pause`."]
    parameters: Annotated[str | None, "Parameters as JSON."] = None
    node: Annotated[str | None, "Node that was hit."] = None
    role: Annotated[str | None, "Role of the node when it was hit: `leader`, `ISR member`, `active controller`."] = None
    node_state: Annotated[
        str | None,
        "State of the node when it was hit: `serving`, `fenced`, `catching up`, `dead`.",
    ] = None
    cluster_state: Annotated[str | None, "State of the cluster when the fault was ordered; see below."] = None
    active_faults: Annotated[int, "Other faults that were at work when it was ordered."]
    ordered_s: Annotated[float, "Time of the order, seconds since the run began."]
    injected_s: Annotated[float | None, "Time at which it was injected."] = None
    proven_s: Annotated[float | None, "Time at which its effect was measured; null if it never was."] = None
    healing_s: Annotated[float | None, "Time at which healing began."] = None
    healed_s: Annotated[float | None, "Time at which healing was measured; null if it never was."] = None
    outcome: Annotated[str, "`healed`, `proven` (never healed), `unproven`, `unhealed` or `ordered`."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChangeRow:
    """One row for each change of a lease, leader, ISR or controller, when the first observer saw it."""

    at_s: Annotated[float, "Time at which it was seen, seconds since the run began."]
    kind: Annotated[str, "`lease` (a broker's registration), `leader`, `isr`, `controller` or `process`."]
    subject: Annotated[str, "Broker, partition (`t-0`) or node that changed; `controller` for the controller."]
    before: Annotated[str | None, "State before; null for the first one."] = None
    after: Annotated[str, "State after: `fenced`, a broker id, ids of the ISR in order (`4,5,6`), `killed`."]
    epoch: Annotated[int | None, "Broker epoch, leader epoch or controller epoch, where the change has one."] = None
    fault: Annotated[
        str | None,
        "Fault that was ordered last before the change and is not healed; null without one.",
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingRow:
    """One row for each phase of a run, each step, and each reaction of the cluster to a fault."""

    timing: Annotated[str, "What was timed; see below."]
    subject: Annotated[str | None, "Step, node or partition that was timed."] = None
    fault: Annotated[str | None, "Fault that it is a reaction to, or was healed."] = None
    fault_kind: Annotated[str | None, "Kind of that fault."] = None
    begin_s: Annotated[float, "Begin, seconds since the run began."]
    seconds: Annotated[float | None, "Duration; null if the end was never seen."] = None
    outcome: Annotated[str | None, "`done`, or how a step ended otherwise; `unseen` without an end."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyRow:
    """One row for each bucket of a histogram of operation latencies.

    Histograms are merged by adding counts: a bucket `b` has the operations with a latency of 2^(b/4) to 2^((b+1)/4)
    microseconds.
    """

    operation: Annotated[str, "`produce`, `fetch`, `probe` and the other operations of the journal."]
    outcome: Annotated[str, "`ok`, `fail` or `info` (it may have happened)."]
    during: Annotated[str, "`fault` if a fault was at work when the operation began, else `quiet`."]
    bucket: Annotated[int, "Bucket: the floor of 4 log2(microseconds), at least 0."]
    operations: Annotated[int, "Operations in the bucket."]
    seconds: Annotated[float, "Sum of their latencies."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSignatureRow:
    """One row for each kind of warning or error in the logs of the nodes of a run."""

    level: Annotated[str, "`WARN`, `ERROR` or `FATAL`."]
    masked: Annotated[str, "The line with times, numbers and other names of one run masked."]
    signature: Annotated[str, "Hash of level and masked line."]
    masking: Annotated[int, "Version of the masking."]
    lines: Annotated[int, "Lines of this kind, over all nodes."]
    nodes: Annotated[Sequence[str], "Logs that have them, without `.log`."]
    example: Annotated[str, "The first such line, shortened to 500 characters."]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementRow:
    """One row for each requirement that a run judges or names."""

    rule: Annotated[str, "Id of the requirement, such as `K631-32`."]
    state: Annotated[str, "`held`, `as listed`, `broken`, `not covered` or `not exercised` (idle)."]
    checks: Annotated[int, "Checks that judged it."]
    judged: Annotated[
        int | None,
        "Operations, records or answers that those checks judged; null where none says.",
    ] = None
    says: Annotated[str | None, "The rule in words."] = None
    document: Annotated[str | None, "Document that has the rule."] = None
    section: Annotated[str | None, "Section of that document."] = None
    url: Annotated[str | None, "Address of the document."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """One row for each run that did not pass: its plan, so that it can be replayed without its folder."""

    plan_hash: Annotated[str, "SHA-256 of the plan."]
    steps: Annotated[int, "Number of steps."]
    plan: Annotated[str, "The plan file: write it to a file and give that to `fencepost replay`."]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAsideRow:
    """One row for each folder or file that could not be published, and each damage of one that was."""

    date: Annotated[dt.date, "Day of the folder's last change, UTC."]
    id: Annotated[str, "Identity of the row: a hash of path, reason and time of the last change."]
    folder: Annotated[str, "Path of the folder or file."]
    reason: Annotated[str, "`killed half way`, `without a journal`, `foreign`, `unreadable` or `torn`."]
    file: Annotated[str | None, "File that is at fault."] = None
    detail: Annotated[str, "What is wrong with it."]
    published: Annotated[bool, "The run is in `runs` all the same."]
    seen_at: Annotated[dt.datetime, "Time at which it was found."]
