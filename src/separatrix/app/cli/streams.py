"""What is written reaches its reader: signs that an encoding lacks, readers that have gone, disks that are full."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from ..files import replace_file

RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀᵐ", "0123456789-Tm", strict=True))
PLAIN: Mapping[str, str] = {
    "✓": "passed", "✗": "failed",
    "−": "-", "–": "-", "—": "-", "·": "*", "×": "x", "≥": ">=", "≤": "<=", "≠": "!=", "≈": "~", "→": "->", "∞": "inf",
    "…": "...", "±": "+-", "√": "sqrt", "Σ": "sum", "‖": "||", "“": '"', "”": '"', "‘": "'", "’": "'",
    "█": "#", "░": ".", "─": "-", "•": "*", "\u202f": " ", "\u00a0": " ", "λ": "lambda", "ℓ": "l", "∈": "in",
    **{sign: str(digit) for digit, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")}, "₊": "+", "ᵢ": "i", "ⱼ": "j",
    "θ": "theta", "Φ": "Phi", "χ": "chi", "σ": "sigma", "ρ": "rho", "ν": "nu", "η": "eta", "ŷ": "y", "∝": "~",
    "†": "(+)", "‡": "(++)", "½": "1/2", **{sign: f"^{plain}" for sign, plain in RAISED.items()},
}  # fmt: skip
"""The signs that we write ourselves, in ASCII; a test looks for others."""
HANDLER = "separatrix.plain"


def plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace signs that an encoding lacks: ours by ASCII, those of the user's data as they came or by their number.

    ASCII is what the C locale stands for, where the bytes of a file go through as they are.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wanted = error.object[error.start : error.end]
    if all(sign in PLAIN for sign in wanted):
        return _in_ascii(wanted), error.end
    sign = wanted[0]
    if sign in PLAIN:
        return PLAIN[sign], error.start + 1
    if "\ud800" <= sign <= "\udfff" or error.encoding != "ascii":
        return sign.encode("ascii", "backslashreplace").decode(), error.start + 1
    return sign.encode(), error.start + 1


def _in_ascii(signs: str) -> str:
    """Our signs in ASCII; a number that is raised, such as ⁻⁵, as one: ^-5."""
    parts = []
    for raised, run in groupby(signs, RAISED.__contains__):
        parts.append("^" * raised)
        parts += map((RAISED if raised else PLAIN).__getitem__, run)
    return "".join(parts)


codecs.register_error(HANDLER, plainly)


def in_c_locale(environment: Mapping[str, str]) -> bool:
    """Whether the environment asks for the C locale by name, and for no other encoding."""
    if any(environment.get(name) for name in ("PYTHONIOENCODING", "PYTHONUTF8")):
        return False
    asked = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := environment.get(name))), "")
    return asked in ("C", "POSIX")


def prepare(environment: Mapping[str, str] = os.environ) -> None:
    """Let stdout and stderr write any text, and exist."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:  # closed by the shell: >&-
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            plain = {"encoding": "ascii"} if in_c_locale(environment) else {}
            stream.reconfigure(errors=HANDLER, **plain)


def writable(text: str, stream: IO[str]) -> bool:
    """Whether a stream's encoding has all signs of a text."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def write_file(output: str | Path, content: str | bytes) -> bool:
    """Write a text, or bytes, in one step; whether a file was there before."""
    return replace_file(output, content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape"))


def flush() -> OSError | None:
    """Write out what waits; if it cannot be, forget it, so that the interpreter does not complain on its way out.

    What is wrong with stdout is returned; words on stderr that no one reads are no loss.
    """
    trouble: OSError | None = None
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except OSError as error:
            trouble = error if stream is sys.stdout else None
            _forget(stream)
    return trouble


def _forget(stream: IO[str]) -> None:
    """Point the stream's file at nothing: what it still holds is then written there."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, stream.fileno())
    except OSError:  # a stream without a file, as tests have them
        return
    finally:
        os.close(nothing)
