# `make help` lists the targets. The engines are the programs under src/codenib/navigation/*/engine.
VENV ?= .venv
BIN = $(VENV)/bin
TOOLS = $(CURDIR)/.tools
STATICCHECK = v0.8.2
VERSITYGW = v1.8.0
ZOEKT = v0.0.0-20260807124253-c4d8f3537f7a
ENGINES = src/codenib/navigation
CYCLONEDX = 7.5.0
FUZZ_COUNT ?= 100000
# The tests start hundreds of programs of ours: without bytecode each compiles every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup tools browser zoekt check lint types imports structure links doctests test engines fix fuzz faults docs dist sbom coverage bench

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: ## a virtual environment with everything that `check` needs
	python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'

tools: setup browser ## the engines, servers and the browser that some tests drive; needs Node, Go, cargo, a JDK and Maven for theirs
	npm install --prefix tools/js
	GOBIN=$(TOOLS)/bin go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK)
	GOBIN=$(TOOLS)/bin go install github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW)
	CODENIB_TOOLBOX=$(TOOLS)/box CARGO_TARGET_DIR=$(TOOLS)/crates $(BIN)/codenib tools install all scip-python scip-typescript

browser: ## Chromium for the tests of the page: by apt-get as root, otherwise it says what to install
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then :; \
	elif test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install --yes --quiet chromium; \
	else echo "the tests of the page need chromium (or google-chrome) on the path; they are skipped without it"; fi

zoekt: ## an optional peer of the trigram view; needs Go
	GOBIN=$(TOOLS)/bin go install github.com/sourcegraph/zoekt/cmd/zoekt@$(ZOEKT) github.com/sourcegraph/zoekt/cmd/zoekt-index@$(ZOEKT)

check: lint types imports structure links doctests engines test ## everything below; green before every commit

lint: ## format and lint of Python
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: ## mypy, strict
	$(BIN)/mypy

imports: ## which stage may import which
	$(BIN)/lint-imports

structure: ## sizes of files and rooms, names of one meaning, calls with few arguments
	$(BIN)/python tests/check_structure.py

links: ## every link of the pages leads to a file or a heading
	$(BIN)/python tests/check_links.py

doctests: ## the examples in docstrings
	$(BIN)/pytest --doctest-modules src

test: ## the tests, on all cores
	$(BIN)/pytest -n auto

engines: ## format, lint and tests of the JavaScript, Go, Rust and Java engines; skips those that `make tools` did not set up
	$(BIN)/python tests/check_engines.py

fix: ## format, and apply the fixes that are safe
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	@if test -d tools/js/node_modules; then npm run --silent --prefix tools/js fix; else echo "JavaScript: not formatted, make tools"; fi
	@if command -v gofmt >/dev/null; then gofmt -l -w $(ENGINES)/go/engine; else echo "Go: not formatted, gofmt is not installed"; fi
	@if command -v cargo >/dev/null; then cd $(ENGINES)/rust/engine && cargo fmt; else echo "Rust: not formatted, cargo is not installed"; fi

fuzz: ## decoders on FUZZ_COUNT inputs each (100,000); FUZZ_ONLY="glob scip" for some, CODENIB_FUZZ_SEED=2 for others
	$(BIN)/python -W ignore -m tests.fuzz $(FUZZ_COUNT) $(FUZZ_ONLY)

faults: ## each write step of commands × kill, full disk, I/O error, read-only; FAULTS="--share 12 update gc" for some
	$(BIN)/python -W ignore -m tests.faults $(FAULTS)

hostile: ## every hostile repository and engine case is made and asked; HOSTILE="--only names --jobs 2" for some
	$(BIN)/python -m tests.hostile.corpus $(HOSTILE)

docs: ## build/site: the pages as a site that fetches nothing from other hosts; the tools have an environment of their own
	python3 -m venv build/docs && build/docs/bin/pip install --quiet --editable '.[docs]'
	rm -rf build/site && build/docs/bin/sphinx-build -W --keep-going -q -b html -d build/doctrees docs build/site
	$(BIN)/python tests/check_site.py build/site

dist: ## the wheel and the sdist, in dist/
	$(BIN)/python -m hatchling build -t wheel -t sdist

sbom: ## dist/sbom.cdx.json: what a plain installation brings, by CycloneDX; the tool has an environment of its own
	rm -rf build/sbom && mkdir -p build/sbom dist
	python3 -m venv build/sbom/tool && build/sbom/tool/bin/pip install --quiet 'cyclonedx-bom==$(CYCLONEDX)'
	python3 -m venv --without-pip build/sbom/plain
	build/sbom/tool/bin/pip --python build/sbom/plain install --quiet .
	build/sbom/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --short-PURLs --output-reproducible --of JSON -o dist/sbom.cdx.json build/sbom/plain/bin/python

coverage: ## docs/coverage.md: the lines that no test reaches
	rm -rf .coverage && mkdir .coverage
	$(BIN)/coverage run -m pytest -n auto --doctest-modules src tests
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o .coverage/measured.json
	$(BIN)/python tests/write_coverage.py .coverage/measured.json

bench: ## times on REPOSITORY=path
	$(BIN)/python -m benchmarks.foundation $(REPOSITORY)
