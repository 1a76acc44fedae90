"""`codenib eval`: the studies, found by name at run time.

evals is the top layer and not part of serving anybody: naming its module in a string keeps it out of the
import graph and out of the start of every other command.
"""

from __future__ import annotations

from importlib import import_module

import click

eval: click.Command = import_module("codenib.evals.cli").cli
