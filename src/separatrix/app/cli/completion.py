"""`separatrix completion`: a script with which a shell completes commands, options and choices by itself."""

from __future__ import annotations

from typing import Literal

from ... import __version__
from .answer import Answer
from .app import build
from .options import Talking

WHERE = {
    "bash": "separatrix completion bash > ~/.local/share/bash-completion/completions/separatrix",
    "zsh": "separatrix completion zsh > ~/.zfunc/_separatrix",
    "fish": "separatrix completion fish > ~/.config/fish/completions/separatrix.fish",
}  # fmt: skip
"""What to type, so that the shell finds the script."""
ZSH = """\
if [[ "$funcstack[1]" = _separatrix ]]; then
  _cyclopts_separatrix "$@"
else
  compdef _cyclopts_separatrix separatrix
fi
"""
"""What is made completes nothing by itself: zsh calls what it finds in a file of fpath, and knows what is sourced."""


def completion(shell: Literal["bash", "zsh", "fish"], /, *, talking: Talking = Talking()) -> Answer:
    """Print a script that completes commands and options in a shell.

    The script is complete in itself: no key press starts Python. For zsh the folder must be in fpath: fpath+=~/.zfunc
    in ~/.zshrc, before compinit.

    Parameters
    ----------
    shell
        The shell.
    talking
        How the command talks.
    """
    script = build().generate_completion(prog_name="separatrix", shell=shell)
    if shell == "zsh":
        script = f"{script.rstrip()}\n\n{ZSH}"
    data = {"command": "completion", "version": __version__, "shell": shell, "script": script}
    return Answer(data, text=script, words=f"To keep it:\n  {WHERE[shell]}")
