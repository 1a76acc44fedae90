"""The agent runtime: an issue and the opened views of one manifest in, an answer with a trace out.

`codenib.query` is the entry. What others plug in: a `Provider` (`runtime.provider`), a `ContextPolicy`
(`runtime.policies`), skills as folders (`runtime.skill_registry`).
"""
