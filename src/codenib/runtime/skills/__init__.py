"""Skills that come with the package, a folder each; see `codenib.runtime.skills.registry`."""
