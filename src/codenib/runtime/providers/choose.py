"""A model's name in, its provider out."""

from __future__ import annotations

from codenib.config.resolve import user_choice
from codenib.core.errors import InputError
from codenib.runtime.providers.endpoint import resolve_endpoint
from codenib.runtime.providers.provider import Provider
from codenib.runtime.providers.retries import RetryLimits

PROVIDERS = ("anthropic", "openai")
MODEL = "CODENIB_MODEL"


def open_model(
    model: str | None = None,
    *,
    base_url: str | None = None,
    key_variable: str | None = None,
    stream: bool = True,
    retries: RetryLimits | None = None,
) -> Provider:
    """The provider of `anthropic:NAME`, `openai:NAME` or a bare name; without one $CODENIB_MODEL decides.

    Bare names that begin with `claude` are Anthropic's, all others are asked for at the OpenAI-compatible
    endpoint: `base_url`, $OPENAI_BASE_URL or OpenAI's own.
    """
    chosen = model or user_choice("model")
    if not chosen:
        raise InputError("no model is chosen", hint=f"--model claude-… or gpt-…, or export {MODEL}=…")
    provider, name = split_model(chosen)
    endpoint = resolve_endpoint(
        provider, name, base_url=base_url, key_variable=key_variable, stream=stream, retries=retries
    )
    if provider == "anthropic":
        from codenib.runtime.providers.anthropic import AnthropicProvider

        return AnthropicProvider(endpoint)
    from codenib.runtime.providers.openai import OpenAIProvider

    return OpenAIProvider(endpoint)


def split_model(model: str) -> tuple[str, str]:
    """
    >>> split_model("claude-sonnet-4-5"), split_model("openai:qwen3:8b"), split_model("qwen3:8b")
    (('anthropic', 'claude-sonnet-4-5'), ('openai', 'qwen3:8b'), ('openai', 'qwen3:8b'))
    """
    provider, mark, name = model.partition(":")
    if mark and provider in PROVIDERS and name:
        return provider, name
    return ("anthropic" if model.startswith("claude") else "openai"), model
