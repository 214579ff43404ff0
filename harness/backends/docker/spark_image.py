"""The image of a Spark cluster: the installed package pyspark, and wheels of what the driver of the jobs imports.

    python -m fencepost.harness.backends.docker.spark_image

builds it if it is missing, and prints its tag; or why it cannot, with exit code 2.
"""

from __future__ import annotations

import sys

from fencepost.harness.backends.docker.build import ready
from fencepost.harness.backends.docker.images import Image
from fencepost.harness.backends.docker.wheels import wheels
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.targets.maven import pyspark_jars

DRIVER = ("deltalake", "numpy", "pyarrow")
"""The packages that the driver imports beside Spark; `pyspark.ml` imports numpy."""
_LEFT_OUT = ("__pycache__", "examples", "data", "tests")


def spark_image() -> Image:
    """Return the image. InfrastructureError if pyspark is not installed, or if pip cannot fetch the wheels."""
    jars = pyspark_jars()
    if jars is None:
        raise InfrastructureError("the package pyspark is not installed: pip install 'fencepost[mining]'")
    home = jars.parent
    files = {path.relative_to(home): path for path in home.rglob("*") if path.is_file()}
    context = {f"spark/{place}": path for place, path in files.items() if not set(place.parts) & {*_LEFT_OUT}}
    context |= {f"wheels/{path.name}": path for path in wheels(DRIVER)}
    return Image("spark", "Spark", context)


if __name__ == "__main__":
    try:
        print(ready(spark_image()))
    except (InfrastructureError, UsageError) as message:
        print(f"fencepost: {message}", file=sys.stderr)
        sys.exit(2)
