# `make` alone prints what there is. Both main jobs do all set-up themselves; a second run finds it done.
PYTHON  ?= python3
TARGET  ?= quorum
BACKEND ?= process
SEED    ?= 1
RUNS    ?= runs
ARGS    ?=
export PYTHON

TOXIPROXY_VERSION := v2.12.0
BIN  := .venv/bin
LOCK := requirements.lock
FENCEPOST := $(BIN)/fencepost
SUITES := suite-quorum suite-zk-controller suite-leader-driven

# Apache Kafka's jars come by KAFKA_HOME, by Maven, or by the Ivy that Spark carries.
KAFKA_JARS := $(if $(filter apache-kafka%,$(TARGET)),$(if $(KAFKA_HOME)$(shell command -v mvn),,.venv/.all))
# ZooKeeper's by ZOOKEEPER_HOME, from Debian's package, by Maven, or from Spark, which carries them.
ZOOKEEPER := $(ZOOKEEPER_HOME)$(wildcard /usr/share/java/zookeeper.jar)$(shell command -v mvn)
ZOOKEEPER_JARS := $(if $(filter zk-controller leader-driven,$(TARGET)),$(if $(ZOOKEEPER),,.venv/.all))

.DEFAULT_GOAL := help
.PHONY: help conformance test lint types unit integration suite $(SUITES) docker-suite bench doctor lock clean

help: ## print this
	@echo "make conformance [TARGET=quorum|zk-controller|leader-driven|apache-kafka|apache-kafka-zk|apache-kafka-zk:2.8.2] [BACKEND=process|docker] [SEED=1] [ARGS='-k kill']"
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

conformance: .venv/.harness $(KAFKA_JARS) $(ZOOKEEPER_JARS) ## start real clusters, break them, say which rules held
	@$(FENCEPOST) conformance --target $(TARGET) --backend $(BACKEND) --seed $(SEED) --runs $(RUNS) $(ARGS)

test: lint types unit integration suite docker-suite ## everything: lint, types, unit and integration tests, the suites

lint: .venv/.all
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: .venv/.all
	@$(BIN)/mypy

unit: .venv/.all ## the fast tests
	@$(BIN)/pytest -q -n 2 -m "not integration"

integration: .venv/.all ## the tests that start real processes
	@$(BIN)/pytest -q -n 2 --dist loadfile -m integration

suite: $(SUITES) ## the suites on the three designs of the reference cluster

$(SUITES): suite-%: .venv/.all
	@$(FENCEPOST) conformance --target $* --seed $(SEED) --runs $(RUNS)

docker-suite: .venv/.all ## a selection of stories on every design and on Apache Kafka, in containers
	@.ci/docker-suite $(SEED) $(RUNS)

bench: .venv/.all ## speed and memory beside Apache Kafka, as ratios of one run
	@$(BIN)/python -m tests.bench $(ARGS)

doctor: .venv/.harness ## what works on this machine, and what is lost without the rest
	@$(FENCEPOST) doctor

lock: .venv/.all ## resolve the dependencies anew
	@$(BIN)/pip install --disable-pip-version-check -q uv
	@$(BIN)/uv pip compile -q --upgrade pyproject.toml --all-extras --python-version 3.11 --universal --no-emit-index-url --no-header -o $(LOCK)

clean: ## remove what set-up made here (runs stay)
	rm -rf .venv .tools .mypy_cache .ruff_cache .hypothesis .pytest_cache *.egg-info build
	find cluster_impl faults harness results suites tests -name __pycache__ -prune -exec rm -rf {} +

comma := ,
# What pip prints is shown only when it fails; some packages are built from source and warn at length.
install = $(BIN)/pip install --disable-pip-version-check --use-pep517 -c $(LOCK) -e '$(1)' >.venv/install.log 2>&1 \
	|| { tail -n 30 .venv/install.log >&2; echo "fencepost: installation failed; the whole output is in .venv/install.log" >&2; exit 2; }

# Two steps, so that the main job does not wait for Spark.
.venv/.harness: $(LOCK) pyproject.toml | .tools/bin/toxiproxy-server
	@.ci/prerequisites
	@echo "fencepost: installing the harness into .venv"
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(call install,.[harness])
	@# Also where Python is told to leave no bytecode: every node of every cluster would compile its program anew.
	@$(BIN)/python -m compileall -q -j 0 cluster_impl faults harness results suites
	@touch $@

.venv/.all: .venv/.harness
	@echo "fencepost: installing Spark and the tools for development into .venv"
	@$(call install,.[harness$(comma)mining$(comma)dev])
	@touch $@

# Found, or built once.
.tools/bin/toxiproxy-server:
	@.ci/prerequisites
	@.ci/toxiproxy $(TOXIPROXY_VERSION)
