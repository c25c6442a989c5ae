# Two commands: `make lab` opens the first lab, `make test` runs every check; `make slow` runs the checks in depth.
PYTHON ?= python3
BIN := .venv/bin
# the extras of pyproject.toml that each command installs
FOR_lab := lab,hub,engines,smollm
FOR_test := test
FOR_nbval := nbval
# more words for JupyterLab, such as LAB_FLAGS="--no-browser --port=9999"; root in a container has to say that it is root
LAB_FLAGS ?=
ROOT_FLAG := $(shell test "$$(id -u)" = 0 && echo --allow-root)
TESTS := OMP_NUM_THREADS=1 $(BIN)/python -m pytest
# the tests run in four processes, which fill two cores: two without a browser, and two with one, which often wait.
# What loads torch is in the first of each pair: the checks fork, and a process with torch is slow to fork.
UNIT_ONE := $(addprefix tests/,bench decoding host machines models serving site tab tokens train views) bench guidedviz/models
BROWSER_ONE := $(addprefix tests/browser/test_,access.py attacks.py charts.py hostile.py hostile_pages.py jupyterlab.py labs.py lite.py looks.py site.py)
# what was imported once is kept compiled: a kernel that has to compile torch anew starts five seconds later
unexport PYTHONDONTWRITEBYTECODE

.PHONY: lab test unit unit-one unit-two browser browser-one browser-two slow slow-unit slow-browser style types page drift chromium \
	smollm2 notebooks nbval kernel labs slides site lite own clean

lab: .venv/lab-is-ready
# without the registry the labs run with the embedded models
	-$(BIN)/python -m guidedviz get smollm2
	$(BIN)/jupyter lab $(ROOT_FLAG) $(LAB_FLAGS) labs/00_start_here.ipynb

test:
	# more of them than cores, because some wait: for the disk and the network, and in the tests for a server or a page
	$(MAKE) --no-print-directory --jobs=6 --output-sync page unit browser types style drift

unit: unit-one unit-two

browser: browser-one browser-two

# `make slow` chooses other tests, and draws more random ones
TIER := not slow

unit-one unit-two: .venv/imports-are-compiled smollm2

browser-one browser-two: .venv/imports-are-compiled chromium

unit-one:
	$(TESTS) -m "not browser and ($(TIER))" $(DEPTH) $(UNIT_ONE)

unit-two:
	$(TESTS) -m "not browser and ($(TIER))" $(DEPTH) $(addprefix --ignore=,$(UNIT_ONE) tests/browser)

browser-one:
	$(TESTS) -m "browser and ($(TIER))" $(BROWSER_ONE)

browser-two:
	$(TESTS) -m "browser and ($(TIER))" tests/browser tests/deploy $(addprefix --ignore=,$(BROWSER_ONE))

# the same claims in depth: all cases, more random ones, the benches; a workflow runs it on each push (tests/tiers.py)
slow: slow-unit slow-browser

slow-unit:
	$(MAKE) --no-print-directory --jobs=2 --output-sync unit TIER="slow or hypothesis" DEPTH=--hypothesis-profile=deep

slow-browser:
	$(MAKE) --no-print-directory --jobs=2 --output-sync browser TIER=slow

# `page` and `chromium` need no package of ours, and are done while those are installed
types style drift smollm2: .venv/test-is-ready

style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/lint-imports

types:
	$(BIN)/mypy

page:
	guidedviz/widgets/page/check.sh

drift:
	$(BIN)/python labs/build.py --check
	$(BIN)/python labs/question_bank.py --check

# the cells of all notebooks
notebooks: .venv/test-is-ready
	$(TESTS) tests/labs/test_notebooks.py

# the same notebooks whole, each in a kernel of its own, as nbval runs them; a workflow does it
nbval: .venv/nbval-is-ready
	GUIDEDVIZ_HEADLESS=1 CUDA_VISIBLE_DEVICES= OMP_NUM_THREADS=1 $(BIN)/python -m pytest --nbval --nbval-current-env \
		--nbval-sanitize-with labs/sanitize.cfg --nbval-cell-timeout=120 --ignore=labs/src labs

# the notebooks and the models with the sums of an older processor: NumPy's OpenBLAS has one kernel for each kind
kernel: export OPENBLAS_CORETYPE := Prescott
kernel: .venv/test-is-ready notebooks
	$(TESTS) tests/models

# no check: what the tests import is compiled once, since processes that begin together would all compile it
.venv/imports-are-compiled: .venv/test-is-ready
	@$(BIN)/python -m pytest --collect-only tests/host tests/widgets > $@ || true

# installs Chromium where it is missing, so that no test waits for it
chromium: | own
	$(PYTHON) -m tests.browser.chromium

# the real model; its tests are skipped where no registry has it
smollm2:
	-$(BIN)/python -m guidedviz get smollm2

labs: .venv/test-is-ready
	$(BIN)/python assets/messages.py
	$(BIN)/python labs/build.py
	$(BIN)/python labs/question_bank.py

# a deck per lab
slides: .venv/lab-is-ready
	$(BIN)/python -m guidedviz slides all slides --no-open

site: .venv/lab-is-ready
	$(BIN)/python assets/site/build.py $(SITE_FLAGS)

# the course in a browser tab, without a server; it needs npm, and a network for NumPy's wheel, or LITE_FLAGS=--without-numpy
lite: .venv/lab-is-ready
	$(BIN)/python assets/lite/build.py $(LITE_FLAGS)

.venv/%-is-ready: pyproject.toml | own
	test -x $(BIN)/python || $(PYTHON) -m venv --upgrade-deps .venv
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[$(FOR_$*)]'
	touch $@

# before anything is installed: a Python that is new enough, and no environment in which another clone is installed
own:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "guidedviz needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@if test -L .venv || grep -LFxs '$(CURDIR)' .venv/lib/python*/site-packages/_guidedviz.pth | grep -q .; then \
		echo ".venv: saw the environment of another clone, expected one of this clone, because an install changes it;"; \
		echo "try: rm -rf .venv (of a link it removes the link alone), then make $(MAKECMDGOALS)"; exit 1; fi

clean:
	rm -rf .venv build dist site slides lite .pytest_cache .mypy_cache .ruff_cache
