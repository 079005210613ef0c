# make demo     a first look: install everything into .venv and run examples/demo.py
# make test     the whole test suite against the installed wheel
# make lint     formatting, lint, spelling, types, the order of the floors, and what is caught where;
#               clang-tidy for C++ that differs from BASE
# make tidy     clang-tidy for all C++: half an hour of one core
# make format   rewrite the sources in the project's format
# make docs     the API reference, into docs/reference
# make package  the sdist and, made from it, the wheel: build/package
# make check-package  install that wheel alone into a clean environment, and try it there
# make stubs    bring the committed stubs of the extension up to date
#
# VENV=         (empty) works in the present environment, where torch already is
# NPROC=n       test processes at a time
# BASE=HEAD     what lint compares with: by default clang-tidy reads what is not committed yet
# Tests run on the wheel that was made from the sdist. Nothing is built or installed again while
# its sources stay the same.

VENV ?= .venv
PYTHON ?= python3
NPROC ?= 2
BASE ?= HEAD
# Always pinned: the newest release brings gigabytes that a machine without a GPU has no use for.
TORCH ?= torch==2.13.0

ifeq ($(strip $(VENV)),)
PY := $(PYTHON)
STAMPS := build/stamps
else
PY := $(abspath $(VENV))/bin/python
STAMPS := $(VENV)/stamps
endif
SCRIPTS = $$($(PY) -c 'import sysconfig; print(sysconfig.get_path("scripts"))')
CLANG_FORMAT = $(SCRIPTS)/clang-format
CMAKE_FORMAT = $(SCRIPTS)/cmake-format
PIP := $(PY) -m pip --disable-pip-version-check -q

# Folders count too, so that a removed file is noticed.
SOURCES := $(shell find CMakeLists.txt README.md LICENSE cmake csrc pyproject.toml python python_direct \
  runtime third_party \( -name __pycache__ -o -path python/nvfuser_direct/_core \) -prune \
  -o -not -name '_core*.so' -not -name '*.md' -print)
CMAKE_SOURCES := CMakeLists.txt $(wildcard cmake/*.cmake */CMakeLists.txt csrc/*/CMakeLists.txt)
CXX_SOURCES := $(shell find csrc python_direct runtime -name '*.h' -o -name '*.cpp' -o -name '*.cuh')

PACKAGE := build/package

.PHONY: demo test lint tidy format docs stubs check-stubs package check-package install clean

demo: $(STAMPS)/install
	$(PY) examples/demo.py

test: $(STAMPS)/install
	$(PY) -m pytest -n $(NPROC) --dist worksteal tests

lint: $(STAMPS)/tools
	$(PY) tools/check_floors.py
	$(PY) tools/check_catches.py
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m mypy --strict --follow-imports=silent tests/typing
	$(SCRIPTS)/codespell
	@echo cmake-format --check && $(CMAKE_FORMAT) --check $(CMAKE_SOURCES)
	@echo clang-format --dry-run --Werror && $(CLANG_FORMAT) --dry-run --Werror $(CXX_SOURCES)
	$(PY) tools/clang_tidy.py --base $(BASE)

tidy: $(STAMPS)/tools
	$(PY) tools/clang_tidy.py --all

format: $(STAMPS)/tools
	$(PY) -m ruff check --fix --select I .
	$(PY) -m ruff format .
	@echo cmake-format -i && $(CMAKE_FORMAT) -i $(CMAKE_SOURCES)
	@echo clang-format -i && $(CLANG_FORMAT) -i $(CXX_SOURCES)

docs: $(STAMPS)/install
	$(PY) tools/api_reference.py docs/reference

stubs: $(STAMPS)/install
	$(PY) tools/check_stubs.py --update

check-stubs: $(STAMPS)/install
	$(PY) tools/check_stubs.py

package: $(STAMPS)/package

check-package: $(STAMPS)/package
	$(PY) tools/check_package.py $(PACKAGE)/wheel/*.whl

install: $(STAMPS)/install

$(STAMPS)/venv:
ifneq ($(strip $(VENV)),)
	$(PYTHON) -m venv $(VENV)
endif
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/tools: $(STAMPS)/venv tools/requirements.txt
	$(PY) -c 'import importlib.util as u, sys; sys.exit(u.find_spec("torch") is None)' \
	  || $(PIP) install '$(TORCH)'
	$(PIP) install -r tools/requirements.txt
	@touch $@

# Without isolation the build tools stay where they are, and so only what changed is compiled.
$(STAMPS)/package: $(STAMPS)/tools $(SOURCES) tools/build_package.py
	$(PY) tools/build_package.py --out $(PACKAGE)
	@touch $@

$(STAMPS)/install: $(STAMPS)/package
	$(PIP) install --no-deps --force-reinstall $(PACKAGE)/wheel/*.whl
	$(PIP) install "$$(echo $(PACKAGE)/wheel/*.whl)[test,cuda]"
	@touch $@

clean:
	rm -rf build build-gpu $(STAMPS)
