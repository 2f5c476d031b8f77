"""`separatrix`: the commands, each loaded when it is used."""

from __future__ import annotations

from collections.abc import Mapping

from cyclopts import App, ArgumentCollection, Parameter
from cyclopts.config import Env, Toml

from ... import __version__
from . import main as main

COMMANDS: Mapping[str, str] = {
    "schema": "Show how each column of a table is read; or the JSON schema of a command.",
    "fit": "Fit a learner to a table, and save the model.",
    "predict": "Predict the rows of a table with a saved model.",
    "evaluate": "Measure how well a model predicts, with intervals.",
    "compare": "Compare learners on the same folds.",
    "separable": "Say whether the classes are linearly separable, and prove it.",
    "summary": "Show a saved model on a page.",
    "report": "Write a report on a model: one HTML file that opens anywhere.",
    "explain": "Explain single predictions of a saved model.",
    "export": "Write a saved model as ONNX, SQL, Python, C or formulas.",
    "completion": "Print a script that completes commands and options in a shell.",
    "demo": "Show all of this on a small table.",
}
"""Each command, the module and function of its name in this package, in the order in which they are used."""

HELP = "Linear classifiers that say what is true about them."
EXAMPLE = (
    "separatrix schema data.csv, then separatrix fit data.csv --target COLUMN. "
    "Exit status: 0 done, 1 the answer is no, 2 usage, 3 data, 4 not optimal with --strict, 70 our bug, "
    "130 interrupted."
)


def build(commands: Mapping[str, str] = COMMANDS) -> App:
    """The commands; none of their modules is loaded before it is used.

    Options come from the command line, else from SEPARATRIX_<COMMAND>_<OPTION>, else from separatrix.toml.
    """
    app = App(
        name="separatrix", help=HELP, help_format="plaintext", version=__version__, help_epilogue=EXAMPLE,
        config=(_with_dashes, Env("SEPARATRIX_", show=False), Toml("separatrix.toml")),
        default_parameter=Parameter(negative_iterable=(), show_default=_default),
    )  # fmt: skip
    for order, (name, help_text) in enumerate(commands.items()):
        app.command(
            f"separatrix.app.cli.{name}:{name}", name=name, help=help_text, sort_key=order, help_format="markdown",
            help_epilogue="",
        )  # fmt: skip
    return app


DASH = "\0"
"""Stands for a lone "-" until options are told from values: it looks like an option, and no word typed holds a NUL."""


def _with_dashes(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """A lone "-" is a value: the name of standard input, or a mark for missing values."""
    for argument in arguments:
        argument.tokens[:] = [token.evolve(value="-") if token.value == DASH else token for token in argument.tokens]


def tell_all(app: App, command: str) -> None:
    """Let a command's page of help show all of its docstring, where the list of commands shows a line."""
    app[command].help = None


def _default(value: object) -> str | None:
    """A default that is worth showing: not that an option is off or not given."""
    return None if value is None or value is False or value in ((), "") else str(value)


app = build()
