"""What went wrong, as a sentence and an exit status: never as a traceback on the screen."""

from __future__ import annotations

import errno
import os
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from tomllib import TOMLDecodeError
from typing import Any

from cyclopts import CycloptsError, UnknownCommandError, UnusedCliTokensError

from ... import errors
from ..tables.errors import Remedy, TableError, did_you_mean, with_remedies
from . import NEEDED
from .answer import BUG, DATA, INTERRUPTED, NO, USAGE, UsageError
from .app import COMMANDS, DASH

DEBUG = "SEPARATRIX_DEBUG"
OF_A_MODEL = ("predict", "evaluate", "explain", "report")
"""Commands to which a saved model says what the columns are."""


class NoDataError(UsageError):
    """No table was named, and nothing is piped in: the help of the command is the answer."""


@dataclass(frozen=True)
class Failure:
    """How a command failed."""

    status: int
    kind: str
    """usage, data, refused, interrupted or bug."""
    text: str
    """What follows "error: "."""
    details: dict[str, Any] = field(default_factory=dict)
    """For --json: what TableError.to_dict has, where there is one."""

    def to_dict(self) -> dict[str, Any]:
        """The error in JSON, as schemas/error.json describes it."""
        empty = dict.fromkeys(("file", "line", "column", "value", "because"))
        return {"kind": self.kind, "problem": self.text, **empty, "remedies": [], **self.details}


def failure_of(error: BaseException, tokens: list[str]) -> Failure:
    """What an exception means to the person who typed the command."""
    for kinds, meaning in _MEANINGS:
        if isinstance(error, kinds):
            found = meaning(error, tokens)
            if found is not None:
                return found
    return _bug(error)


def _bad_table(error: Any, tokens: list[str]) -> Failure:
    _say_what_can_be_typed(error, tokens)
    return Failure(DATA, "data", str(error), error.to_dict())


def _bad_data(error: Any, tokens: list[str]) -> Failure:
    """Rows that no learner or model could use, or a file that is no model."""
    value = None if error.value is None else str(error.value)
    details = {"file": getattr(error, "path", None) or None, "value": value}
    if isinstance(error.column, str):
        details["column"] = error.column
    return Failure(DATA, "data", str(error), details)


def _refused(error: BaseException, tokens: list[str]) -> Failure:
    """A question that has no valid answer."""
    return Failure(NO, "refused", str(error))


def _say_what_can_be_typed(error: TableError, tokens: list[str]) -> None:
    """Where a model knows the columns, nobody says what they are; and a column of weights cannot be a category."""
    lacking: tuple[str, ...] = ()
    if tokens[:1] and tokens[0] in OF_A_MODEL:
        lacking = ("category", "number", "drop", *(["format"] if tokens[0] == "report" else []))
    elif ("--weights", error.column) in pairwise(tokens):
        lacking = ("category",)
    error.remedies = tuple(each for each in error.remedies if each.setting not in lacking)


def _bad_usage(error: UsageError, tokens: list[str]) -> Failure:
    return _with_remedies(error.problem, *error.remedies)


def _bad_setting(error: BaseException, tokens: list[str]) -> Failure:
    return Failure(USAGE, "usage", str(error))


def _bad_tokens(error: Any, tokens: list[str]) -> Failure:
    """What cyclopts found wrong with the command line."""
    if isinstance(error, UnknownCommandError) and error.unused_tokens:
        asked = error.unused_tokens[0]
        problem = f"there is no command {asked!r}. {did_you_mean(asked, COMMANDS)}".rstrip()
        return _with_remedies(problem, Remedy("all commands", call="separatrix --help"))
    command = tokens[:1] if tokens[:1] and tokens[0] in COMMANDS else []
    error.verbose = False
    problem = str(error).strip() or "the command line cannot be read."
    if isinstance(error.__cause__, TOMLDecodeError):
        problem = f"separatrix.toml is no TOML file: {error.__cause__}."
    elif isinstance(error, UnusedCliTokensError):
        unused = ("-" if each == DASH else each for each in error.unused_tokens or ())
        problem = f"{' '.join(command)} does not know what to do with {', '.join(map(repr, unused))}."
    return _with_remedies(problem, Remedy("help", call=" ".join(["separatrix", *command, "--help"])))


def _with_remedies(problem: str, *remedies: Remedy) -> Failure:
    details = {"problem": problem, "remedies": [each.to_dict() for each in remedies]}
    return Failure(USAGE, "usage", with_remedies([problem], remedies), details)


def _stopped(error: BaseException, tokens: list[str]) -> Failure:
    return Failure(INTERRUPTED, "interrupted", "interrupted; nothing was saved.")


def _no_file(error: Any, tokens: list[str]) -> Failure | None:
    """An error of the system about a file; without a file and a number it is one of ours."""
    if error.errno is None:
        return None
    reason = os.strerror(error.errno)
    name = error.filename if error.filename is not None else error.filename2
    if name is None and error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        return None
    problem = f"{_name_of(name)}: {reason}." if name is not None else f"the output cannot be written: {reason}."
    return Failure(DATA, "data", problem, {"file": None if name is None else _name_of(name)})


def _name_of(name: Any) -> str:
    return os.fsdecode(name) if isinstance(name, str | bytes | os.PathLike) else f"file {name}"


def _no_memory(error: BaseException, tokens: list[str]) -> Failure:
    fewer = Remedy("take fewer rows", "sample", "N")
    return _bad_table(TableError("the table does not fit into memory.", remedies=[fewer]), tokens)


def _not_installed(error: Any, tokens: list[str]) -> Failure | None:
    """A package that is missing; a command whose module needs it fails as its cause tells."""
    cause = error.__cause__ if isinstance(error.__cause__, ModuleNotFoundError) else error
    name = (cause.name or "").partition(".")[0]
    if not isinstance(cause, ModuleNotFoundError) or not name or name == "separatrix":
        return None
    package = 'pip install "separatrix[cli]"' if name in NEEDED else f"pip install {name}"
    return _with_remedies(f"this needs {name}, which is not installed.", Remedy("install it", call=package))


def _bug(error: BaseException) -> Failure:
    """An exception that no one foresaw: its traceback goes to a file."""
    said = "".join(traceback.format_exception_only(error)).strip().split("\n")[-1]
    where = _written(error)
    text = f"this is a bug in separatrix: {said}"
    text += f"\n  the full story is in {where}" if where else ""
    text += f"\n  to see it here: {DEBUG}=1"
    return Failure(BUG, "bug", text, {"problem": said, "file": where})


def _written(error: BaseException) -> str | None:
    """The name of a file with the traceback; None if none can be written."""
    try:
        handle, name = tempfile.mkstemp(prefix="separatrix-bug-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.writelines(traceback.format_exception(error))
    except OSError:
        return None
    return name


_MEANINGS: tuple[tuple[Any, Callable[[Any, list[str]], Failure | None]], ...] = (
    (TableError, _bad_table),
    (errors.DataError, _bad_data),
    (UsageError, _bad_usage),
    (errors.SettingError, _bad_setting),
    (errors.Refusal, _refused),
    (CycloptsError, _bad_tokens),
    (KeyboardInterrupt, _stopped),
    (OSError, _no_file),
    (MemoryError, _no_memory),
    (ImportError, _not_installed),
)
"""Exceptions and what they mean, the first that fits; a meaning of None passes on to the next."""
