"""`separatrix`: the commands, each loaded when it is used."""

from __future__ import annotations

from cyclopts import App

from .. import __version__

app = App(name="separatrix", help="Linear classifiers that say what is true about them.", version=__version__)


def main() -> None:
    """Run the command that was typed."""
    app()
