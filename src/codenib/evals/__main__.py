"""`python -m codenib.evals STUDY …` is `codenib eval STUDY …`."""

from __future__ import annotations

import sys

from codenib.adapters.cli.main import main

if __name__ == "__main__":
    sys.argv = ["codenib", "eval", *sys.argv[1:]]
    main()
