"""One module (or folder) per study; `codenib.evals.cli` has the list."""
