# `make help` lists the targets. The engines are the programs under src/codenib/navigation/*/engine.
VENV ?= .venv
BIN = $(VENV)/bin
TOOLS = $(CURDIR)/.tools
ZOEKT = v0.0.0-20260807124253-c4d8f3537f7a
ENGINES = src/codenib/navigation

.DEFAULT_GOAL := help
.PHONY: help setup tools zoekt check lint types imports structure doctests test fix bench

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: ## a virtual environment with everything that `check` needs
	python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m pip install --quiet ./models/codenib-reranker

tools: setup ## the engines and servers that some tests drive; needs Node, Go and cargo for theirs
	CODENIB_TOOLBOX=$(TOOLS)/box $(BIN)/codenib tools install all scip-python scip-typescript

zoekt: ## an optional peer of the trigram view; needs Go
	GOBIN=$(TOOLS)/bin go install github.com/sourcegraph/zoekt/cmd/zoekt@$(ZOEKT) github.com/sourcegraph/zoekt/cmd/zoekt-index@$(ZOEKT)

check: lint types imports structure doctests test ## everything below; green before every commit

lint: ## format and lint of Python
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: ## mypy, strict
	$(BIN)/mypy

imports: ## which stage may import which
	$(BIN)/lint-imports

structure: ## sizes of files
	$(BIN)/python tests/check_sizes.py

doctests: ## the examples in docstrings
	$(BIN)/pytest --doctest-modules src

test: ## the tests, on all cores
	$(BIN)/pytest -n auto

fix: ## format, and apply the fixes that are safe
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	@command -v gofmt >/dev/null && gofmt -l -w $(ENGINES)/go/engine || echo "Go is not installed: not formatted"
	@command -v cargo >/dev/null && cargo fmt --manifest-path $(ENGINES)/rust/engine/Cargo.toml || echo "cargo is not installed: Rust not formatted"

bench: ## times on REPOSITORY=path
	$(BIN)/python -m benchmarks.foundation $(REPOSITORY)
