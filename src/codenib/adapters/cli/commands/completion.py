"""`codenib completion`: a shell's name in, the script that completes our commands in it out."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash   eval "$(codenib completion bash)" in ~/.bashrc
    zsh    eval "$(codenib completion zsh)" in ~/.zshrc
    fish   codenib completion fish > ~/.config/fish/completions/codenib.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click knows these three
    script = kind(context.find_root().command, {}, "codenib", "_CODENIB_COMPLETE")
    click.echo(script.source())
