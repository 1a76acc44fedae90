"""Rerankers: a query and documents in, a score each out. `choose.open_reranker` opens one by its spec."""
