"""Run a command: its answer printed, its errors told, its exit status returned."""

from __future__ import annotations

import json
import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ... import __version__, wording
from ..tasks.learners import LEARNERS, OPTIONS, REDUCTIONS
from . import console
from .answer import BUG, DATA, DONE, INTERRUPTED, Answer, pair
from .app import COMMANDS, DASH, app, tell_all
from .console import help_console, say
from .failing import DEBUG, Failure, NoDataError, failure_of
from .options import Talking

# How sentences name a setting, a learner or a call to who types commands: `--l2 0.1`, `--learner logistic`.

OTHER_OPTIONS = {
    "random_state": "--seed", "features": "--features", "estimator": "--learner", "sample_weight": "--weights",
    **{name: f"--{name}" for name in (
        "category", "cost", "cv", "decimal", "distance", "drop", "encoding", "explain", "format", "group", "header",
        "learner", "learners", "level", "missing", "na", "number", "output", "positive", "proba", "reduction",
        "require", "row", "sample", "standardise", "target", "thresholds", "unseen", "weights", "where",
    )},
}  # fmt: skip
"""Settings that are options of some command, but no parameter of a learner."""
WITH_TWO_FORMATS = ("predict", "explain")
"""Commands whose rows come in one format, and go out in another."""
CALLS = {
    "separability(X, y)": "separatrix separable",
    "decide(table)": "separatrix schema FILE",
    "learn_encoding(table, decisions)": "separatrix fit …",
    "learn_encoding(table, decisions, missing='impute')": "separatrix fit … --missing impute",
    "model.encoding.columns": "separatrix summary MODEL",
}
"""Calls of the library that a command makes."""


@dataclass(frozen=True)
class CommandLine(wording.Python):
    """The words of who types commands, for one of them in particular."""

    command: str = ""

    def setting(self, name: str, value: Any = wording.NOTHING) -> str:
        """`--l2`, `--l2 0.1`, `--no-fit-intercept`, `--drop a --drop b`; no command's as in Python."""
        if name not in OPTIONS and name not in OTHER_OPTIONS:
            return super().setting(name, value)
        option = OTHER_OPTIONS.get(name, "--" + name.replace("_", "-"))
        if name == "format" and self.command in WITH_TWO_FORMATS:
            option = "--input-format"
        if value is wording.NOTHING or value is True:
            return option
        if value is False:
            return f"--no-{option[2:]}"
        values = value if isinstance(value, tuple) else ("none" if value is None else value,)
        return shlex.join(word for each in values for word in pair(option[2:], str(each)))

    def learner(self, name: str) -> str:
        """`--learner logistic`, `--reduction one-vs-rest`."""
        for option, table in (("--learner", LEARNERS), ("--reduction", REDUCTIONS)):
            typed = next((typed for typed, each in table.items() if each.home == name), None)
            if typed is not None:
                return f"{option} {typed}"
        return super().learner(name)

    def call(self, text: str) -> str:
        """`separatrix separable`; what no command does is called as in Python."""
        return CALLS.get(text, text)

    def has(self, name: str) -> bool:
        """Whether some command takes this setting, makes this call, or knows this learner."""
        homes = {each.home for each in (*LEARNERS.values(), *REDUCTIONS.values())}
        return name in OPTIONS or name in OTHER_OPTIONS or name in CALLS or name in homes


def run(tokens: Sequence[str]) -> int:
    """Run the command that these words are; its exit status. Nothing but SystemExit leaves it."""
    console.prepare()
    try:
        status = _run(list(tokens))
    except BrokenPipeError:
        status = DONE  # a command wrote its rows itself, and the reader has all it wanted
    except KeyboardInterrupt:
        status = INTERRUPTED
    trouble = console.flush()
    if trouble is None or isinstance(trouble, BrokenPipeError):
        return status
    say(f"the output cannot be written: {trouble.strerror}.", mark="error: ", colour="red")
    console.flush()
    return DATA


def _run(tokens: list[str]) -> int:
    with wording.speaking(CommandLine(*tokens[:1])):
        return _answered(tokens)


def _answered(tokens: list[str]) -> int:
    talking = typed_talking(tokens)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warned(talking)
            words = tokens
            if tokens and tokens[0] in COMMANDS:
                tell_all(app, tokens[0])
                words = [DASH if word == "-" else word for word in tokens]
            command, bound, _ = app.parse_args(
                words, console=_console(tokens, talking), exit_on_error=False, print_error=False
            )
            talking = bound.arguments.get("talking", talking)
            answer = command(*bound.args, **bound.kwargs)
        return show(answer, talking) if isinstance(answer, Answer) else DONE
    except BrokenPipeError:
        raise
    except NoDataError as error:
        app.help_print(tokens[:1], console=help_console(talking.no_color, sys.stderr))
        return fail(failure_of(error, tokens), tokens, talking)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else BUG if leaving.code else DONE
    except BaseException as error:
        if os.environ.get(DEBUG):
            import traceback

            traceback.print_exception(error)
        return fail(failure_of(error, tokens), tokens, talking)


def _console(tokens: Sequence[str], talking: Talking) -> Any:
    """What help is printed on, where help is asked for: a command that answers need not load it."""
    helping = not tokens or any(token in ("--help", "-h", "--version") for token in tokens)
    return help_console(talking.no_color) if helping else None


def typed_talking(tokens: Sequence[str]) -> Talking:
    """How the command is to talk as far as can be seen before its words are read: errors in them are told so too."""
    options = list(tokens)
    options = options[: options.index("--")] if "--" in options else options
    return Talking(json="--json" in options, quiet="--quiet" in options, no_color="--no-color" in options)


def show(answer: Answer, talking: Talking) -> int:
    """Data on stdout, words on stderr; the status."""
    text = answer.text if answer.text.endswith("\n") or not answer.text else answer.text + "\n"
    try:
        sys.stdout.write(json_text(answer.data) if talking.json else text)
        sys.stdout.flush()  # so that on a terminal the words follow
    except BrokenPipeError:
        return answer.status  # the reader has all it wanted
    for note in answer.notes:
        say(note, mark="note: ", colour="yellow", no_color=talking.no_color)
    if not talking.quiet:
        if answer.words:
            say(answer.words, no_color=talking.no_color)
        if answer.next:
            say(answer.next, mark="next: ", colour="green", no_color=talking.no_color, wrapped=False)
    return answer.status


def fail(failure: Failure, tokens: Sequence[str], talking: Talking) -> int:
    """Tell an error, on stdout too if --json asks for it; the status."""
    if talking.json:
        command = tokens[0] if tokens and tokens[0] in COMMANDS else None
        data = {"command": command, "version": __version__, "error": failure.to_dict(), "status": failure.status}
        with suppress(BrokenPipeError):
            sys.stdout.write(json_text(data))
            sys.stdout.flush()
    say(failure.text, mark="error: ", colour="red", no_color=talking.no_color)
    return failure.status


def json_text(data: dict[str, Any]) -> str:
    """JSON with its signs as they are, where stdout has them; else as numbers."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    if not console.writable(text, sys.stdout):
        text = json.dumps(data, indent=2, allow_nan=False)
    return text + "\n"


def _warned(talking: Talking) -> Any:
    """What prints a warning of Python's as a sentence, without the line of code that gave it."""

    def tell(message: Any, *_: Any, **__: Any) -> None:
        say(str(message), mark="warning: ", colour="yellow", no_color=talking.no_color)

    return tell
