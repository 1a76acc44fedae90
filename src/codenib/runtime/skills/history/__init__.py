"""Who changed a file or lines of it."""
