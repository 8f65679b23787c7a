# Everything that people and CI run. Variables: PYTHON (3.11 or newer), VENV, T (one), SET (bench-recall, bench-extracted, bench-extract),
# SIZES (bench-latency), WORKERS (test), ARGS (passed on).
# Three workers suit two cores: tests mostly wait for a database, for a process to start or end, or for time to pass.
PYTHON ?= python3
VENV ?= .venv
SET ?= locomo
SIZES ?= 10k,100k
WORKERS ?= 3
ARGS ?=
FAST := tests/unit tests/sql
T ?=
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Without the compiled files, each of a run's processes compiles memsvc and the tests again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
# Every target with a help text.
.PHONY: $(shell sed -n 's/^\([a-z][a-z-]*\):.*\#\# .*/\1/p' Makefile)

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

$(BIN)/.installed: pyproject.toml requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (the first time takes a minute) …"
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(BIN)/.installed ## The main use, end to end, in a data folder of its own: stores a conversation, asks three questions
	@$(BIN)/memsvc demo

up: $(BIN)/.installed ## Database, API and worker in the foreground
	@$(BIN)/memsvc up

one: $(BIN)/.installed ## One test, file or folder: T=tests/sql/test_identity.py (ARGS="-x"); its server stays up for the next
	@test -n "$(T)" || { echo "Say which: make one T=tests/sql/test_identity.py, or T=FILE::TEST"; exit 2; }
	@MEMSVC_TEST_SERVER=$${MEMSVC_TEST_SERVER:-kept} $(BIN)/python -m pytest -n 0 $(T) $(ARGS)

fast: $(BIN)/.installed ## The quick tests, in a minute: no server is started anew, and no process of memsvc
	@MEMSVC_TEST_SERVER=kept $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow" $(FAST) $(ARGS)

test-server-stop: $(BIN)/.installed ## Stop the server that 'make one' and 'make fast' keep (it stops itself after half an hour)
	@$(BIN)/python -m tests.kept stop

test: $(BIN)/.installed ## All tests, on a private PostgreSQL that they start and stop
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-full: $(BIN)/.installed ## All tests on the full server: PostgreSQL 18 with AGE and PostGIS, from an image (Debian, root)
	@$(BIN)/python -m ops.postgres image > /dev/null
	@MEMSVC_TEST_SERVER=full $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

full-image: $(BIN)/.installed ## Make the full server's image if it is missing; prints its folder
	@$(BIN)/python -m ops.postgres image

full-up: $(BIN)/.installed ## Start the full server for trials; prints the URL of its database memsvc (ARGS="--data FOLDER")
	@$(BIN)/python -m ops.postgres up $(ARGS)

full-down: $(BIN)/.installed ## Stop the full server; its data stay
	@$(BIN)/python -m ops.postgres down $(ARGS)

LEAKS := tests/leaks tests/api/test_isolation.py tests/sql/test_isolation.py tests/sql/test_identity.py tests/sql/test_privileges.py \
	tests/sql/test_mutations.py
THROUGH := tests/leaks/test_ways.py tests/leaks/test_functions.py tests/leaks/test_through.py tests/api/test_isolation.py
test-leaks: $(BIN)/.installed ## On both servers, and through a pooler and a standby: all ways to other users' memories by REST, SQL and Cypher are closed; each protection is needed
	@$(BIN)/python -m ops.postgres image > /dev/null
	@MEMSVC_TEST_LEAKS=all $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile $(LEAKS) $(ARGS)
	@MEMSVC_TEST_LEAKS=all MEMSVC_TEST_SERVER=full $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile tests/cypher/test_leaks.py $(LEAKS) $(ARGS)
	@MEMSVC_TEST_THROUGH=pooler $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile $(THROUGH) tests/sql/test_isolation.py $(ARGS)
	@MEMSVC_TEST_THROUGH=replica $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile $(THROUGH) $(ARGS)

conformance: $(BIN)/.installed ## MCP's official conformance suite, for what memsvc offers; installs it from npm
	@MEMSVC_TEST_CONFORMANCE=1 $(BIN)/python -m pytest -q -n 0 tests/acceptance/test_mcp_conformance.py $(ARGS)

lint: $(BIN)/.installed ## ruff and sqlfluff
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/sqlfluff lint --processes 2 --disable-progress-bar sql/queries sql/views

format: $(BIN)/.installed ## Let ruff format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

types: $(BIN)/.installed ## mypy, strict, over source and tests
	@$(BIN)/mypy

layers: $(BIN)/.installed ## Imports and calls of SQL functions point down only
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m pytest -q -n 0 tests/sql/test_layers.py

check: lint types layers test test-full ## All checks; CI leaves out of test-full the tests whose outcome the server cannot change

schema: $(BIN)/.installed ## Write build/schema.sql, for reading: every table, function, view and policy of this version
	@mkdir -p build
	@$(BIN)/python -m memsvc.server.schema_dump > build/schema.sql.new && mv build/schema.sql.new build/schema.sql
	@echo build/schema.sql

client: $(BIN)/.installed ## Write the sync client anew from the async one, and the TypeScript client from OpenAPI
	@$(BIN)/python -m memsvc.client.twin && $(BIN)/ruff format --quiet memsvc/client
	@$(BIN)/python -m memsvc.api.typescript

web: ## Build the web page from web/ into memsvc/web/dist, which is committed (needs Node 20.19 or newer, and npm)
	@cd web && npm ci --no-progress && npm run --silent build

web-pictures: $(BIN)/.installed ## Draw the pictures of the documentation anew, from the sample (needs Chromium; ARGS=FOLDER: all screens in all forms)
	@$(BIN)/python -m tests.acceptance.web.pictures $(ARGS)

web-dev: ## Serve the web page from its sources, with the API of a running 'memsvc up'; prints its address
	@cd web && npm ci --no-progress && npm run --silent dev

examples: $(BIN)/.installed ## Write the examples of answers in the OpenAPI document anew, from a run of all operations
	@MEMSVC_TEST_ANSWERS=write $(BIN)/python -m pytest -q -n 0 tests/api/test_examples.py

LOCKING := uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --generate-hashes \
	--extra embedded --extra onnx --extra multilingual --extra nlp --extra documents --extra age
lock: ## Write requirements.lock and the image's lock anew (without torch: see docs/dependencies.md)
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/$(LOCKING) --extra dev --output-file requirements.lock pyproject.toml
	@echo torch > $(VENV)/left-out.txt
	@echo hatchling | $(BIN)/$(LOCKING) --extra redis --extra rabbitmq --extra otel --extra sentence-transformers \
		--excludes $(VENV)/left-out.txt --constraint requirements.lock --output-file ops/docker/requirements.lock pyproject.toml -

digests: ## Write the digests of the base images into the Dockerfiles (needs Docker and the network)
	@ops/docker/pin-digests.sh

bench-sources: $(BIN)/.installed ## Speed of reading exports, as a dry run does it (ARGS=--large: also one of a gigabyte)
	@$(BIN)/python -m bench.sources $(ARGS)

bench-ingest: $(BIN)/.installed ## Speed of the write path
	@$(BIN)/python -m bench.ingest $(ARGS)

bench-recall: $(BIN)/.installed ## Quality of recall on labelled data (SET=locomo), and its speed at 100,000 passages
	@$(BIN)/python -m bench.recall --set $(SET) $(ARGS)

train-order: $(BIN)/.installed ## Learn recall's order anew, and write memsvc/recall/order.json
	@$(BIN)/python -m bench.order --write $(ARGS)

bench-confidence: $(BIN)/.installed ## Fit recall's confidence, and show the thresholds (ARGS="--keep /tmp/asked.json")
	@$(BIN)/python -m bench.confidence $(ARGS)

bench-latency: $(BIN)/.installed ## Speed of recall for users of several sizes (SIZES=10k,100k,1m), compared with two other programs
	@$(BIN)/python -m bench.latency_fused --sizes $(SIZES) $(ARGS)

bench-queue: $(BIN)/.installed ## Speed of background work: enqueuing, draining, latency, recovery from kills, fairness; compared with Redis and RabbitMQ (ARGS="--part own")
	@$(BIN)/python -m bench.queue $(ARGS)

bench-failover: $(BIN)/.installed ## What a failover loses, and how long it takes: ten under load by synchronous replication, ten by asynchronous
	@$(BIN)/python -m bench.failover $(ARGS)

bench-graph: $(BIN)/.installed ## Speed of writing and walking the graph, compared with igraph, AGE and kuzu, on the full server (ARGS=--embedded)
	@$(BIN)/python -m bench.graph $(ARGS)

bench-duplicates: $(BIN)/.installed ## Sleep's search for duplicates among 100,000 nodes: seconds, memory, results
	@$(BIN)/python -m bench.duplicates $(ARGS)

bench-sleep: $(BIN)/.installed ## A night's cost, and what its summaries do to recall (SET=locomo or beam-100k, ARGS="--first 1")
	@$(BIN)/python -m bench.sleep --set $(SET) $(ARGS)

bench-overview: $(BIN)/.installed ## Main points that an overview of 300 tokens names (ARGS="--kept", --misses)
	@$(BIN)/python -m bench.overview $(ARGS)

bench-described: $(BIN)/.installed ## Nodes by what is said about them: found by meaning, proposed as duplicates; 100,000 cards (ARGS=--nodes 0: none)
	@$(BIN)/python -m bench.described $(ARGS)

bench-concepts: $(BIN)/.installed ## Parents that sleep mode finds for siblings; a graph of 5,000 nodes (ARGS=--kept: the unseen ones; --nodes 0: none)
	@$(BIN)/python -m bench.concepts $(ARGS)

bench-extract: $(BIN)/.installed ## Facts extracted from conversations, compared with labels; speed; share of LoCoMo (ARGS=--kept: the unseen ones; SET=life: talk)
	@$(BIN)/python -m bench.extract $(if $(filter life,$(SET)),--set life) $(ARGS)

bench-graded: $(BIN)/.installed ## How many facts of unseen chats are right and useful, by the grades of readers
	@$(BIN)/python -m bench.graded $(ARGS)

bench-worth: $(BIN)/.installed ## How well it can be told which sentences are true and worth keeping as they stand
	@$(BIN)/python -m bench.worth $(ARGS)

bench-extracted: $(BIN)/.installed ## Extract the facts of a set, and measure their effect on recall (SET=locomo)
	@$(BIN)/python -m bench.extracted --set $(SET) $(ARGS)

bench-covered: $(BIN)/.installed ## Share of LoCoMo's observations that a recalled fact covers (ARGS="--before CHECKOUT": also by an older version)
	@$(BIN)/python -m bench.covered $(ARGS)

bench-context: $(BIN)/.installed ## What a context costs, and how much of the evidence it holds (SET=locomo, ARGS=--curve)
	@$(BIN)/python -m bench.context --set $(SET) $(ARGS)

bench-days: $(BIN)/.installed ## What contexts hold over simulated weeks: names, facts, newest values, reminders (ARGS=--misses)
	@$(BIN)/python -m bench.days $(ARGS)

bench-verify: $(BIN)/.installed ## Whether claims about simulated weeks are verified rightly (ARGS=--show)
	@$(BIN)/python -m bench.verify $(ARGS)

bench-calibration: $(BIN)/.installed ## Fit the offline extractor's confidence to the labels; run it after each change of its rules (ARGS=--show)
	@$(BIN)/python -m bench.calibration $(ARGS)

bench-vault: $(BIN)/.installed ## A watched folder of notes: from a change to recall, and the cost of watching (ARGS="--notes 5000")
	@$(BIN)/python -m bench.vault_watch $(ARGS)

bench-documents: $(BIN)/.installed ## Characters found in real documents; speed of each format of text; memory
	@$(BIN)/python -m bench.documents $(ARGS)

bench-turns: $(BIN)/.installed ## Turns of agents: commit, bytes, past work that is found and its speed (ARGS="--size 1000 --gold kept")
	@$(BIN)/python -m bench.turns $(ARGS)

bench-identity: $(BIN)/.installed ## Who is who: names, mentions and records, compared with plain strings
	@$(BIN)/python -m bench.identity $(ARGS)

bench-guides: $(BIN)/.installed ## Each guide from a fresh clone: clone, environment, install, the guide; seconds (ARGS=--only curl,psql)
	@$(BIN)/python -m bench.guides $(ARGS)

bench-nearby: $(BIN)/.installed ## Search for nearby places among 100,000, with PostGIS and with cube, on the full server (ARGS=--embedded)
	@$(BIN)/python -m bench.nearby $(ARGS)

bench-places: $(BIN)/.installed ## Gains and losses of recall's place arm, on random histories (ARGS="--seed 3 --weights 1,4")
	@$(BIN)/python -m bench.recall_places $(ARGS)

bench-live: $(BIN)/.installed ## 100 sockets of 10 users and a writer for 3 minutes: delay, and that nothing is lost (ARGS=--seconds 30)
	@$(BIN)/python -m bench.live $(ARGS)

bench-api: $(BIN)/.installed ## Hooks, recall, drop-in chat and events over real HTTP, with 100,000 passages (ARGS="--seconds 10")
	@$(BIN)/python -m bench.api $(ARGS)

bench-web: $(BIN)/.installed ## The web page in Chromium, for a user of 100,000 passages: first view, screens, graph, scripts, memory (ARGS="--passages 5000 --events 500")
	@$(BIN)/python -m bench.web $(ARGS)

bench-cells: $(BIN)/.installed ## Three cells: what dividing costs, moves of users under load, and a killed cell (ARGS="--users 60 --moves 6")
	@$(BIN)/python -m bench.cells $(ARGS)

bench-moving: $(BIN)/.installed ## A user of 100,000 passages and an ordinary one moved between cells: rows a second, pauses (ARGS="--passages 5000")
	@$(BIN)/python -m bench.moving $(ARGS)

bench-neighbours: $(BIN)/.installed ## A user who recalls, beside 40 simultaneous heavy recalls of another (ARGS="--before CHECKOUT": also an older version)
	@$(BIN)/python -m bench.neighbours $(ARGS)

bench-load: $(BIN)/.installed ## Mixed traffic of more and more users: chats, hooks, documents, nights; the highest rate, a noisy user (ARGS="--bound 300")
	@$(BIN)/python -m bench.traffic $(ARGS)

bench-scale: $(BIN)/.installed ## From measured figures to passages, users, cells, memory and cost, up to 10^9 passages (ARGS="--passages 1e8")
	@$(BIN)/python -m bench.scale $(ARGS)

bench-analysis: $(BIN)/.installed ## Hidden anomalies and habits that are found; cost of analyses of 100,000 facts (ARGS=--open)
	@$(BIN)/python -m bench.analysis $(ARGS)

clean: ## Remove what was built here; data folders stay
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
