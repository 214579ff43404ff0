"""Frames that later steps use several times."""

from pyspark.sql import DataFrame


def computed(frame: DataFrame) -> DataFrame:
    """Compute a frame now; return one with its rows, and without its plan.

    A cached frame keeps its plan, which Spark analyses and compares with all other cached ones in each later step: that
    takes longer than the steps do. The rows go to the checkpoint directory of the session, which a cluster needs, as it
    may lose executors. Without one they stay in the executors, as on one machine.
    """
    if frame.sparkSession.sparkContext.getCheckpointDir() is None:
        return frame.localCheckpoint()
    return frame.checkpoint()
