# ducktape, the framework of Apache Kafka's system tests.
python_packages "ducktape$(at == 0.17.0)"
of_python ducktape
project log_test.py <<'PY'
import os

from ducktape.mark import ignore
from ducktape.mark.resource import cluster
from ducktape.tests.test import Test


def note(test, outcome):
    with open(os.environ["RAN"], "a") as ran:
        ran.write(f"{test} {outcome}\n")


class Log(Test):
    @cluster(num_nodes=0)
    def test_passes(self):
        note("passes", "P")

    @cluster(num_nodes=0)
    def test_fails(self):
        note("fails", "F")
        assert False, "17 records are gone"

    @cluster(num_nodes=0)
    def test_errors(self):
        note("errors", "E")
        raise OSError("17 records are gone")

    @cluster(num_nodes=0)
    def test_flaky(self):
        with open(os.environ["RAN"]) as ran:
            again = "flaky" in ran.read()
        note("flaky", "P" if again else "F")
        assert again, "17 records are gone"

    @ignore
    @cluster(num_nodes=0)
    def test_skips(self):
        pass
PY
project duck <<'SH'
venv/bin/ducktape --cluster ducktape.cluster.localhost.LocalhostCluster --deflake 3 --results-root out log_test.py
cp out/latest/report.xml "$REPORTS/"
SH
runs "--deflake 3" sh duck
