"""Log directories that fail or are described wrongly."""

from __future__ import annotations

from fencepost.suites import vocabulary as v
from fencepost.suites.released_bugs.bug import ReleasedBug, asking

BROKER = v.node_name(v.BROKER_IDS[0])


@ReleasedBug(
    "KAFKA-16234",
    "The partitions of a log directory that fails are created again, empty, in another one",
    kind="disks",
    loses="Once the failed disk is mended, the broker finds two copies of a replica and does not start.",
    releases=("apache-kafka:3.7.0", "3.7.1"),
    rule="DISK-07",
    wanted="failing directories of brokers with several, and a claim on what lies in the others",
    seconds=60,
)
def recreated_elsewhere(draft: v.Draft) -> v.Plan:
    """Each directory holds one of two partitions; when the second directory fails, the first must not hold both."""
    steps: list[v.Step] = [
        v.inject("broken", v.LogDirParameters(node=BROKER, dir=1)),
        v.Logged(
            as_="noticed",
            node=BROKER,
            says="Stopping serving logs in dir|Stopped serving logs in dir",
            after=v.After(event="broken.injected"),
        ),
        v.Hold(after="noticed.ended", ms=6000),
        v.described_log_dirs(
            "one-left",
            BROKER,
            v.serves("DISK-07"),
            {"error_code": 0, "results[error_code=0].topics[name=t].partitions[1].partition_index": None},
        ),
        v.Heal(as_="mended", fault="broken"),
        v.Shutdown(as_="stop", nodes=BROKER),
        v.Start(as_="start", nodes=BROKER, until="running"),
        v.NodeExited(as_="starts-again", node=BROKER, within_ms=15_000, expect=v.never("DISK-07")),
    ]
    two = v.NodeSettings(broker={"offsets.topic.replication.factor": "2"})
    return asking(draft, steps, partitions=2, brokers=2, log_dirs=2, settings=two)
