"""The structural view: nodes, occurrences and edges of every file, assembled from facts per file."""
