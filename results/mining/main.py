"""`spark-submit --py-files fencepost-mining.zip main.py STORE --out RESULTS`: all mining jobs, on any Spark."""

import sys

from fencepost.results.mining.submit import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
