"""Words for people on stderr, colours where they can be seen, and tables that fit the width."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..files import replace_file

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 80
"""Where the output is not a terminal."""
COLOURS = {"red": "31", "yellow": "33", "green": "32", "dim": "2", "bold": "1"}


def is_terminal(stream: IO[str]) -> bool:
    """Whether a person sees the stream at once."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # closed
        return False


def has_cursor(stream: IO[str], environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a line on it can be written over."""
    return is_terminal(stream) and environment.get("TERM", "") not in ("dumb", "")


def is_coloured(stream: IO[str], no_color: bool = False, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether colours are seen, and wanted: see no-color.org."""
    return has_cursor(stream, environment) and not no_color and not environment.get("NO_COLOR")


def width_of(stream: IO[str]) -> int:
    """The width of a terminal, else 80."""
    return max(40, shutil.get_terminal_size((WIDTH, 24)).columns) if is_terminal(stream) else WIDTH


def say(text: str, *, mark: str = "", colour: str = "", no_color: bool = False, wrapped: bool = True) -> None:
    """Print sentences on stderr, after a mark such as "error: " in its colour.

    A line that begins with a space is printed as it is: it is a command to type, or part of a table.
    """
    stream = sys.stderr
    paint = colour and is_coloured(stream, no_color)
    width = width_of(stream)
    lines = (mark + text).split("\n")
    if wrapped:
        lines = [part for line in lines for part in _folded(line, width)]
    out = "\n".join(lines)
    if paint:
        shown = mark or out
        out = f"\x1b[{COLOURS[colour]}m{shown}\x1b[0m{out[len(shown) :]}"
    tell(out + "\n")


def tell(text: str) -> None:
    """Write to stderr at once; if no one reads it, what the command does goes on."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def _folded(line: str, width: int) -> list[str]:
    """A line in lines of at most so many signs; no word is cut, for it may be the name of a file."""
    if line.startswith(" ") or len(line) <= width:
        return [line]
    return textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)


def help_console(no_color: bool, stream: IO[str] | None = None) -> Console:
    """What the pages of help are printed on."""
    from rich.console import Console

    stream = stream or sys.stdout
    return Console(
        file=stream, width=min(width_of(stream), 100), no_color=not is_coloured(stream, no_color),
        color_system="auto" if is_coloured(stream, no_color) else None, highlight=False,
        legacy_windows=False, force_interactive=False,
    )  # fmt: skip


def shown_width(text: str) -> int:
    """How many places of a terminal a text takes: wide signs take two, marks upon others none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


def shortened(text: str, width: int) -> str:
    """A text cut to so many places, with an ellipsis; line ends and other controls are shown as escapes."""
    text = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    if shown_width(text) <= width:
        return text
    while text and shown_width(text) > width - 1:
        text = text[:-1]
    return text + "…"


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), width: int = WIDTH
) -> str:
    """Columns two spaces apart, those in `right` set to the right; the widest is cut until all fit the width."""
    cells = [list(header), *map(list, rows)]
    widths = [max(shown_width(row[j]) for row in cells) for j in range(len(header))]
    while sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > 8:
        widths[widths.index(max(widths))] -= 1
    return "\n".join(_line(row, widths, right) for row in cells)


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    parts = []
    for j, (cell, width) in enumerate(zip(row, widths, strict=True)):
        text = shortened(cell, width)
        blank = " " * (width - shown_width(text))
        parts.append(blank + text if j in right else text + blank)
    return "  ".join(parts).rstrip()


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, whichever reads best."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


# What is written reaches its reader: signs that an encoding lacks, readers that have gone, disks that are full.

RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀᵐ", "0123456789-Tm", strict=True))
PLAIN: Mapping[str, str] = {
    "✓": "passed", "✗": "failed",
    "−": "-", "–": "-", "—": "-", "·": "*", "×": "x", "≥": ">=", "≤": "<=", "≠": "!=", "≈": "~", "→": "->", "∞": "inf",
    "…": "...", "±": "+-", "√": "sqrt", "Σ": "sum", "‖": "||", "“": '"', "”": '"', "‘": "'", "’": "'",
    "█": "#", "░": ".", "─": "-", "•": "*", "\u202f": " ", "\u00a0": " ", "λ": "lambda", "ℓ": "l", "∈": "in",
    **{sign: str(digit) for digit, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")}, "₊": "+", "ᵢ": "i", "ⱼ": "j",
    "θ": "theta", "Φ": "Phi", "χ": "chi", "σ": "sigma", "ρ": "rho", "ν": "nu", "η": "eta", "α": "alpha",
    "γ": "gamma", "ŷ": "y", "∝": "~", "†": "(+)", "‡": "(++)", "½": "1/2",
    **{sign: f"^{plain}" for sign, plain in RAISED.items()},
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
