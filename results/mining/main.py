"""`spark-submit results/mining/main.py RUNS`: the same job as `fencepost trends RUNS`, on any Spark."""

import sys

from fencepost.results.mining.trends import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
