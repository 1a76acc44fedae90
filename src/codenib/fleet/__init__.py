"""Many repositories: their catalogue, their artifacts in an object store, compilation, search across them."""
