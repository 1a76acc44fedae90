"""A token-bounded pack of evidence for a question."""
