"""Embedders: texts in, vectors out. `choose.open_embedder` opens one by its spec."""
