"""Models behind APIs. Each provider's library is imported in its own module, when that is first used."""
