"""Which repositories a fleet has: entries, their mirrors, and how those follow their sources."""
