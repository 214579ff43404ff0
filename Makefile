# `make` alone prints what there is. Both main jobs do all set-up themselves; a second run finds it done.
PYTHON  ?= python3
TARGET  ?= quorum
BACKEND ?= process
SEED    ?= 1
RUNS    ?= runs
ARGS    ?=
export PYTHON
# Without bytecode each worker of each test run would compile all tests again, which takes half of its start.
unexport PYTHONDONTWRITEBYTECODE

ACTIONLINT_VERSION := v1.7.7
BIN  := .venv/bin
LOCK := requirements.lock
FENCEPOST := $(BIN)/fencepost
# Coverage slows the other tests down to less than half their speed: only those of judge and model are measured.
JUDGE_TESTS := tests/harness/checkers tests/harness/model tests/harness/test_judge.py
SUITES := suite-quorum suite-zk-controller suite-leader-driven suite-kfake

# Apache Kafka's jars come by KAFKA_HOME, by Maven, or by the Ivy that Spark carries.
KAFKA_JARS := $(if $(filter apache-kafka%,$(TARGET)),$(if $(KAFKA_HOME)$(shell command -v mvn),,.venv/.all))
# ZooKeeper's by ZOOKEEPER_HOME, from Debian's package, by Maven, or from Spark, which carries them.
ZOOKEEPER := $(ZOOKEEPER_HOME)$(wildcard /usr/share/java/zookeeper.jar)$(shell command -v mvn)
ZOOKEEPER_JARS := $(if $(filter zk-controller leader-driven,$(TARGET)),$(if $(ZOOKEEPER),,.venv/.all))

.DEFAULT_GOAL := help
.PHONY: help conformance test check lint types unit integration suite $(SUITES) docker-suite gallery bench bench-mining runners spark-classes fuzz dist mutation doctor lock clean
# A target of these two uses both cores for steps that take one each: the build of Toxiproxy beside the installation; the
# images of nodes and mypy beside the unit tests.
.PHONY: .set-up .checks .images
PROXY := .tools/bin/toxiproxy-server
KFAKE := .tools/bin/kfake

help: ## print this
	@echo "make conformance [TARGET=quorum|zk-controller|leader-driven|apache-kafka|apache-kafka-zk|apache-kafka-zk:2.8.2] [BACKEND=process|docker] [SEED=1] [ARGS='-k kill --junitxml junit.xml']"
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

conformance: .venv/.harness $(PROXY) $(if $(filter kfake,$(TARGET)),$(KFAKE)) $(KAFKA_JARS) $(ZOOKEEPER_JARS) ## start real clusters, break them, say which rules held
	@$(FENCEPOST) conformance --target $(TARGET) --backend $(BACKEND) --seed $(SEED) --runs $(RUNS) $(ARGS)

check: lint types unit ## lint, types and unit tests; fails if less than 95 % of the branches of judge and model are covered

test: .set-up .checks integration .suites docker-suite ## lint, types, unit and integration tests, the suites (of each design a part)

.set-up:
	@$(MAKE) --no-print-directory -j2 .venv/.all $(PROXY)

.checks:
	@$(MAKE) --no-print-directory -j2 .images check

.images: .venv/.all $(PROXY)
	@.ci/images

lint: .venv/.all
	@test -x .tools/bin/actionlint || .ci/actionlint $(ACTIONLINT_VERSION)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/python -m tests.language
	@$(BIN)/lint-imports --no-cache >.venv/imports.log || { cat .venv/imports.log; exit 1; }

types: .venv/.all
	@$(BIN)/mypy

unit: .venv/.all $(PROXY) ## the fast tests; prints the branch coverage of the judge, its checkers and the model
	@$(BIN)/pytest -q -n 2 -m "not integration" $(JUDGE_TESTS:%=--ignore=%)
	@$(BIN)/pytest -q -n 2 -m "not integration" $(JUDGE_TESTS) --cov

integration: .venv/.all $(PROXY) $(KFAKE) ## the tests that start real processes
	@$(MAKE) --no-print-directory --keep-going -j2 .mining-tests .cluster-tests

.PHONY: .mining-tests .cluster-tests
# Few processes, each with one Spark session: the first queries of a session take most of the time. A test waits for all
# jobs in a process of their own, which takes minutes beside the other tests.
.mining-tests:
	@$(BIN)/pytest -q -n 2 --dist loadfile -m integration -o faulthandler_timeout=900 --durations 10 --durations-min 10 tests/results

# Four at a time beside those: most of them wait for a cluster most of the time. Each worker reads the files that it is
# given, so it gets those with such tests only.
.cluster-tests:
	@$(BIN)/pytest -q -n 4 --dist loadfile -m integration --durations 10 --durations-min 10 \
		$$(grep -rl 'mark\.integration' tests --include='test_*.py' | grep -v '^tests/results/')

suite: $(SUITES) ## the suites on the three designs of the reference cluster, whole, and that of every broker on kfake

$(SUITES): suite-%: .venv/.all $(PROXY)
	@$(FENCEPOST) conformance --target $* --seed $(SEED) --runs $(RUNS)

suite-kfake: $(KFAKE)

# What designs share is tried on few of them (.ci/selection).
.PHONY: .suites .part-quorum .part-zk-controller .part-leader-driven
.suites: .part-quorum .part-zk-controller .part-leader-driven suite-kfake

.part-quorum .part-zk-controller .part-leader-driven: .part-%: .venv/.all $(PROXY)
	@$(FENCEPOST) conformance --target $* --seed $(SEED) --runs $(RUNS) -k "$$(.ci/selection $*)"

docker-suite: .venv/.all $(PROXY) ## a selection of scenarios on every design and on Apache Kafka, in containers
	@.ci/docker-suite $(SEED) $(RUNS)

gallery: .venv/.all $(PROXY) ## bugs of released Apache Kafka: red on the affected release, green on the fixed one
	@$(BIN)/python -m fencepost.suites.released_bugs --runs $(RUNS)/gallery $(ARGS)

bench: .venv/.all $(PROXY) ## speed and memory beside Apache Kafka, as ratios of one run
	@$(BIN)/python -m tests.bench $(ARGS)

bench-mining: .venv/.all ## the mining jobs beside known truth, numpy, and DuckDB
	@$(BIN)/python -m tests.bench.mining $(ARGS)

runners: .venv/.all ## real test runners: what is read of their reports, beside docs/results-dialects.md; half an hour
	@$(BIN)/python -m tests.runners $(ARGS)

fuzz: .venv/.all ## 1,000,000 malformed frames, idle connections and a slow reader on the listeners of every design; an hour
	@$(BIN)/python -m tests.fuzz $(ARGS)

spark-classes: .venv/.all ## an archive of Spark's classes, with which `fencepost trends` takes less time; half a minute, 180 MB
	@$(BIN)/python -m fencepost.results.mining.class_archive

dist: .venv/.all $(PROXY) ## what spark-submit needs: main.py and fencepost-mining.zip to mine, fleet.py and fencepost-fleet.tar.gz for campaigns [RELEASES=apache-kafka:4.4.0]
	@$(BIN)/python .ci/mining-archive dist
	@$(BIN)/python .ci/fleet-archive dist $(RELEASES)

mutation: .venv/.all $(PROXY) ## plant each known defect and try to catch it; writes docs/mutation.md; hours, goes on where it ended
	@$(BIN)/python -m tests.mutation $(ARGS)

doctor: .venv/.harness $(PROXY) ## what works on this machine, and what is lost without the rest
	@$(FENCEPOST) doctor

lock: .venv/.all ## resolve the dependencies anew
	@$(BIN)/pip install --disable-pip-version-check -q uv
	@$(BIN)/uv pip compile -q --upgrade pyproject.toml --all-extras --python-version 3.11 --universal --no-emit-index-url --no-header -o $(LOCK)

clean: ## remove what set-up made here (runs stay)
	rm -rf .venv .tools .coverage .mypy_cache .ruff_cache .hypothesis .pytest_cache *.egg-info build dist
	find cluster_impl faults harness results suites tests -name __pycache__ -prune -exec rm -rf {} +

comma := ,
# What pip prints is shown only when it fails; some packages are built from source and warn at length.
install = $(BIN)/pip install --disable-pip-version-check --use-pep517 -c $(LOCK) -e '$(1)' >.venv/install.log 2>&1 \
	|| { tail -n 30 .venv/install.log >&2; echo "fencepost: installation failed; the whole output is in .venv/install.log" >&2; exit 2; }

# Two steps, so that the main job does not wait for Spark.
.venv/.harness: $(LOCK) pyproject.toml
	@.ci/prerequisites
	@echo "fencepost: installing the harness into .venv"
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(call install,.[harness])
	@# Also where Python leaves no bytecode by itself: each node of each cluster would compile its program again.
	@$(BIN)/python -m compileall -q -j 0 fencepost/cluster_impl/ fencepost/faults/ fencepost/harness/ fencepost/results/ fencepost/suites/
	@touch $@

.venv/.all: .venv/.harness
	@echo "fencepost: installing Spark and the tools for development into .venv"
	@$(call install,.[harness$(comma)mining$(comma)dev])
	@touch $@

# Found, or built once.
$(PROXY): $(wildcard faults/messages/toxiproxy/*)
	@.ci/prerequisites
	@.ci/toxiproxy

$(KFAKE): $(wildcard harness/targets/kfake/*)
	@.ci/go harness/targets/kfake $@ 26
