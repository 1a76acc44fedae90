"""What a request may name, as data: views, routes, fusions, and how a dense view is organised.

Adapters build their options from it.
"""

from __future__ import annotations

from codenib.compiler.registry import DEFAULT_VIEWS, parse_views
from codenib.planner.plan import FUSIONS, ROUTES
from codenib.views.dense.profile import DocumentSet, Family

__all__ = ["DEFAULT_VIEWS", "DOCUMENT_SETS", "FAMILIES", "FUSIONS", "ROUTES", "parse_views"]

#: What is one document of a dense view: every leaf, callables alone, or whole files.
DOCUMENT_SETS = tuple(each.value for each in DocumentSet)
#: How its vectors are organised.
FAMILIES = tuple(family.value for family in Family)
