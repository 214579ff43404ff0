"""The metrics of KIP-631, New Metrics, under their names as Prometheus can spell them (decision 0062).

`kafka.controller:type=KafkaController,name=MetadataLag` is `kafka_controller_KafkaController_MetadataLag`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator

from fencepost.cluster_impl.metrics.samples import Kind, Latencies, Meter, Sample

_OF_CONTROLLER = "kafka_controller_KafkaController_"


class ControllerMeters:
    """Counts the requests and committed records of a controller, and times the commits while it is active."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.requests = Meter(clock)
        self.commits = Meter(clock)
        self.latency = Latencies()
        self._clock = clock
        self._pending: deque[tuple[int, float]] = deque()
        """The last offset of each batch that was appended here and is not committed, and the time of its append."""

    def appended(self, last_offset: int) -> None:
        """Note that this controller appended a batch."""
        self._pending.append((last_offset, self._clock()))

    def committed(self, records: int, last_offset: int) -> None:
        """Note that records are committed, the last of them at this offset."""
        self.commits.add(records)
        while self._pending and self._pending[0][0] <= last_offset:
            self.latency.add(self._clock() - self._pending.popleft()[1])

    def resigned(self) -> None:
        """Forget the batches that another controller may commit."""
        self._pending.clear()

    def samples(self, *, active: bool, lag: int, snapshot_lag: int) -> Iterator[Sample]:
        """Yield the metrics of a controller; both lags in records."""
        yield Sample(
            _OF_CONTROLLER + "MetadataLag",
            "Records between the last one that this controller has replayed and the last stable offset.",
            lag,
        )
        yield Sample(
            _OF_CONTROLLER + "MetadataCommitLatencyMs",
            "Milliseconds from the append of a batch by this active controller to its commit.",
            self.latency.sum_ms,
            Kind.HISTOGRAM,
            self.latency.buckets(),
        )
        yield Sample(
            _OF_CONTROLLER + "MetadataCommitRate",
            "Metadata records committed per second, over the last minute.",
            self.commits.rate(),
        )
        yield Sample(
            _OF_CONTROLLER + "MetadataSnapshotLag",
            "Records between this controller's newest snapshot, or the begin of the log, and the last stable offset.",
            snapshot_lag,
        )
        yield Sample(
            _OF_CONTROLLER + "ControllerRequestsRate",
            "Requests to this controller per second, over the last minute.",
            self.requests.rate(),
        )
        yield Sample(_OF_CONTROLLER + "ActiveControllerCount", "1 if this controller is active, else 0.", active)
        yield Sample(
            _OF_CONTROLLER + "MetadataCommits", "Metadata records committed.", self.commits.total, Kind.COUNTER
        )
        yield Sample(
            _OF_CONTROLLER + "ControllerRequests", "Requests to this controller.", self.requests.total, Kind.COUNTER
        )


def broker_lag(lag: int) -> Sample:
    """Return the lag of a broker behind the metadata, in records."""
    document = "Records between the last one that this broker has replayed and the last stable offset."
    return Sample("kafka_controller_KafkaServer_MetadataLag", document, lag)
