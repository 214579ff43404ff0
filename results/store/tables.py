"""The tables of the store: names, versions, columns, keys.

A change is additive: a column that may be null, at the end of its table, and the table's version rises by one. Readers
see null in the rows of earlier versions. The data dictionary docs/results.md is made from this file.
"""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from fencepost.results.store.columns import (
    DATE,
    FLAG,
    INTEGER,
    NUMBER,
    ROW,
    RUN,
    TEXT,
    TEXTS,
    TIME,
    column,
    required,
)


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the store. `key` names the columns that identify a row: publishing it again adds no row."""

    name: str
    version: int
    about: str
    schema: pa.Schema
    key: tuple[str, ...]


def _of_runs(name: str, version: int, about: str, *fields: pa.Field) -> Table:
    """Return a table with several rows for each run."""
    return Table(name, version, about, pa.schema([*RUN, ROW, *fields]), ("date", "run_id", "row"))


RUNS: Final = Table(
    "runs",
    2,
    "One row for each run. It is written after the rows of the other tables: a run without it is not published.",
    pa.schema(
        [
            *RUN,
            required("source", TEXT, "`fencepost`, `junit` or `allure`."),
            column("suite", TEXT, "Document of the scenario's suite; of imported results the name of the suite."),
            column("scenario", TEXT, "Scenario of the plan; of a random plan its name. Null for imported results."),
            column("campaign", TEXT, "Folder of the campaign that the run is part of, else null."),
            column("title", TEXT, "Title of the scenario or test, in words."),
            required("run", TEXT, "Name of the run folder, or of the file of imported results."),
            column("folder", TEXT, "Path from which the run was published; the folder may be gone."),
            column("plan_hash", TEXT, "SHA-256 of the plan. Runs with the same one sent the same requests."),
            column("plan_steps", INTEGER, "Number of steps of the plan."),
            column("seed", INTEGER, "Seed of the plan."),
            required("attempt", INTEGER, "1 for the first execution; further ones of the same plan or test count up."),
            column("parameters", pa.map_(TEXT, TEXT), "Parameters of an imported test."),
            column("features", TEXTS, "What the plan does: `fault:pause`, `step:produce`, `workload:transactions`."),
            column("nodes", INTEGER, "Number of nodes of the plan."),
            column("commit", TEXT, "Commit of the harness; of imported results that of the tests."),
            column("harness", TEXT, "Version of the harness."),
            column("target_commit", TEXT, "Commit of the target, where it is known."),
            column("planted_defect", TEXT, "Mutant that the nodes ran with; null for healthy nodes."),
            column("branch", TEXT, "Branch of the CI job."),
            column("ci_system", TEXT, "CI system, such as `GitHub Actions`."),
            column("ci_job", TEXT, "Name of the CI job."),
            column("ci_commit", TEXT, "Commit of the repository of the CI job."),
            column("ci_url", TEXT, "Page of the CI job."),
            column("machine", TEXT, "Operating system of the machine."),
            column("cores", INTEGER, "Cores that the run could use."),
            column("memory_mb", INTEGER, "Memory of the machine, MiB."),
            column("starvation", NUMBER, "Largest share of its time for which a node waited for a processor, 0 to 1."),
            column("left_out", TEXT, "Why scores leave the run out: `no node started`, `planted defect`; else null."),
            column("headline", TEXT, "The verdict in words."),
            column("signature", TEXT, "Signature of the weightiest finding that is not a pass; null for a pass."),
            required("duration_s", NUMBER, "Duration of the run, seconds."),
            column("events", INTEGER, "Events of the journal."),
            column("torn", INTEGER, "Torn last lines of the journal, 0 or 1."),
            column("damaged", INTEGER, "Unreadable lines in the middle of the journal."),
            required("published_at", TIME, "Time at which the run was published."),
            column(
                "combinations",
                TEXTS,
                "What the plan tries, as it shows before the run: `pause | leader | during cut | idempotent`.",
            ),
        ]
    ),
    ("date", "run_id"),
)

FINDINGS: Final = _of_runs(
    "findings",
    1,
    "One row for each finding that is not a pass, and for each pass that follows a listed difference of the target. "
    "The checks that passed are counted in `requirements`.",
    column("rule", TEXT, "Requirement that the check judges; null for a check of the run itself."),
    column("also", TEXTS, "Further requirements that the same check judges."),
    required("check", TEXT, "Name of the check; of imported results `failure` or `error`."),
    required("finding", TEXT, "Verdict of the finding."),
    column("level", TEXT, "`must`, `may` or `never`."),
    column("difference", TEXT, "Listed difference of the target that the expectation follows."),
    column("title", TEXT, "Title of the finding."),
    required("message", TEXT, "Message of the finding, shortened to 4,000 characters."),
    required("masked", TEXT, "Message with numbers, addresses, times and other names of one run masked."),
    required("signature", TEXT, "Hash of check, rule and masked message: failures of one kind have the same."),
    required("masking", INTEGER, "Version of the masking; signatures of different ones do not compare."),
    column("at_s", NUMBER, "Time at which it showed, seconds since the run began."),
    column("basis", TEXT, "`presence`, `absence` or `fault`: the kind of evidence."),
    column("judged", INTEGER, "Number of operations, records or answers that the check judged."),
    column("evidence", TEXT, "Evidence and counterexample as JSON, shortened to 20,000 characters."),
    column("part_of", TEXT, "Check of the finding that describes the same events as a whole."),
)

FAULTS: Final = _of_runs(
    "faults",
    1,
    "One row for each fault of a run, node that it hit and role of that node. A fault that hit no node has one row.",
    required("fault", TEXT, "Name of the fault in its plan: together with run_id it identifies the fault."),
    required("kind", TEXT, "Kind of the fault, such as `pause`."),
    column("parameters", TEXT, "Parameters as JSON."),
    column("node", TEXT, "Node that was hit."),
    column("role", TEXT, "Role of the node when it was hit: `leader`, `ISR member`, `active controller`."),
    column("node_state", TEXT, "State of the node when it was hit: `serving`, `fenced`, `catching up`, `dead`."),
    column("cluster_state", TEXT, "State of the cluster when the fault was ordered; see below."),
    required("active_faults", INTEGER, "Other faults that were at work when it was ordered."),
    required("ordered_s", NUMBER, "Time of the order, seconds since the run began."),
    column("injected_s", NUMBER, "Time at which it was injected."),
    column("proven_s", NUMBER, "Time at which its effect was measured; null if it never was."),
    column("healing_s", NUMBER, "Time at which healing began."),
    column("healed_s", NUMBER, "Time at which healing was measured; null if it never was."),
    required("outcome", TEXT, "`healed`, `proven` (never healed), `unproven`, `unhealed` or `ordered`."),
)

STATE_CHANGES: Final = _of_runs(
    "state_changes",
    1,
    "One row for each change of a lease, leader, ISR or controller, when the first observer saw it.",
    required("at_s", NUMBER, "Time at which it was seen, seconds since the run began."),
    required("kind", TEXT, "`lease` (a broker's registration), `leader`, `isr`, `controller` or `process`."),
    required("subject", TEXT, "Broker, partition (`t-0`) or node that changed; `controller` for the controller."),
    column("before", TEXT, "State before; null for the first one."),
    required("after", TEXT, "State after: `fenced`, a broker id, ids of the ISR in order (`4,5,6`), `killed`."),
    column("epoch", INTEGER, "Broker epoch, leader epoch or controller epoch, where the change has one."),
    column("fault", TEXT, "Fault that was ordered last before the change and is not healed; null without one."),
)

TIMINGS: Final = _of_runs(
    "timings",
    1,
    "One row for each phase of a run, each step, and each reaction of the cluster to a fault.",
    required("timing", TEXT, "What was timed; see below."),
    column("subject", TEXT, "Step, node or partition that was timed."),
    column("fault", TEXT, "Fault that it is a reaction to, or was healed."),
    column("fault_kind", TEXT, "Kind of that fault."),
    required("begin_s", NUMBER, "Begin, seconds since the run began."),
    column("seconds", NUMBER, "Duration; null if the end was never seen."),
    column("outcome", TEXT, "`done`, or how a step ended otherwise; `unseen` without an end."),
)

LATENCIES: Final = _of_runs(
    "latencies",
    1,
    "One row for each bucket of a histogram of operation latencies. Histograms are merged by adding counts: a bucket "
    "`b` has the operations with a latency of 2^(b/4) to 2^((b+1)/4) microseconds.",
    required("operation", TEXT, "`produce`, `fetch`, `probe` and the other operations of the journal."),
    required("outcome", TEXT, "`ok`, `fail` or `info` (it may have happened)."),
    required("during", TEXT, "`fault` if a fault was at work when the operation began, else `quiet`."),
    required("bucket", INTEGER, "Bucket: the floor of 4 log2(microseconds), at least 0."),
    required("operations", INTEGER, "Operations in the bucket."),
    required("seconds", NUMBER, "Sum of their latencies."),
)

LOG_SIGNATURES: Final = _of_runs(
    "log_signatures",
    1,
    "One row for each kind of warning or error in the logs of the nodes of a run.",
    required("level", TEXT, "`WARN`, `ERROR` or `FATAL`."),
    required("masked", TEXT, "The line with times, numbers and other names of one run masked."),
    required("signature", TEXT, "Hash of level and masked line."),
    required("masking", INTEGER, "Version of the masking."),
    required("lines", INTEGER, "Lines of this kind, over all nodes."),
    required("nodes", TEXTS, "Logs that have them, without `.log`."),
    required("example", TEXT, "The first such line, shortened to 500 characters."),
)

REQUIREMENTS: Final = _of_runs(
    "requirements",
    1,
    "One row for each requirement that a run judges or names.",
    required("rule", TEXT, "Id of the requirement, such as `K631-32`."),
    required("state", TEXT, "`held`, `as listed`, `broken`, `not covered` or `not exercised` (idle)."),
    required("checks", INTEGER, "Checks that judged it."),
    column("judged", INTEGER, "Operations, records or answers that those checks judged; null where none says."),
    column("says", TEXT, "The rule in words."),
    column("document", TEXT, "Document that has the rule."),
    column("section", TEXT, "Section of that document."),
    column("url", TEXT, "Address of the document."),
)

PLANS: Final = _of_runs(
    "plans",
    1,
    "One row for each run that did not pass: its plan, so that it can be replayed without its folder.",
    required("plan_hash", TEXT, "SHA-256 of the plan."),
    required("steps", INTEGER, "Number of steps."),
    required("plan", TEXT, "The plan file: write it to a file and give that to `fencepost replay`."),
)

KEPT_ASIDE: Final = Table(
    "kept_aside",
    1,
    "One row for each folder or file that could not be published, and each damage of one that was.",
    pa.schema(
        [
            required("date", DATE, "Day of the folder's last change, UTC."),
            required("id", TEXT, "Identity of the row: a hash of path, reason and time of the last change."),
            required("folder", TEXT, "Path of the folder or file."),
            required("reason", TEXT, "`killed half way`, `without a journal`, `foreign`, `unreadable` or `torn`."),
            column("file", TEXT, "File that is at fault."),
            required("detail", TEXT, "What is wrong with it."),
            required("published", FLAG, "The run is in `runs` all the same."),
            required("seen_at", TIME, "Time at which it was found."),
        ]
    ),
    ("date", "id"),
)

OF_RUNS: Final = (
    FINDINGS,
    FAULTS,
    STATE_CHANGES,
    TIMINGS,
    LATENCIES,
    LOG_SIGNATURES,
    REQUIREMENTS,
    PLANS,
)
"""The tables with facts of runs, apart from `runs`."""

TABLES: Final = (RUNS, *OF_RUNS, KEPT_ASIDE)


def table(name: str) -> Table:
    """Return the table with this name. Raise KeyError."""
    return {each.name: each for each in TABLES}[name]
