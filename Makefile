# One command each: `make setup`, `make check`, `make tools`.
VENV ?= .venv
BIN = $(VENV)/bin
ZOEKT = v0.0.0-20260807124253-c4d8f3537f7a

.PHONY: setup tools zoekt check lint types imports sizes test bench

setup: ## a virtual environment with everything that `check` needs
	python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m pip install --quiet ./models/codenib-reranker

tools: setup ## the engines and servers that some tests drive; needs Node, Go and cargo for theirs
	CODENIB_TOOLBOX=$(CURDIR)/.tools/box $(BIN)/codenib tools install all scip-python scip-typescript

zoekt: ## needs Go
	GOBIN=$(CURDIR)/.tools/bin go install github.com/sourcegraph/zoekt/cmd/zoekt@$(ZOEKT) github.com/sourcegraph/zoekt/cmd/zoekt-index@$(ZOEKT)

check: lint types imports sizes test

lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

imports:
	$(BIN)/lint-imports

sizes:
	$(BIN)/python tests/check_sizes.py

test:
	$(BIN)/pytest -n auto

bench:
	$(BIN)/python -m benchmarks.foundation $(REPOSITORY)
