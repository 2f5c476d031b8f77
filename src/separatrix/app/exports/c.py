"""A model as one C99 file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...errors import SettingError
from .program import CannotExportError, Cell, Choice, Expression, If, Language, Program, branches_of, place_of

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}\Z")
WORDS = frozenset(re.findall(r"\w+", """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    alignas alignof asm bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual
    complex errno far huge i386 linux near stderr stdin stdout unix
    BUFSIZ DOMAIN EOF I INFINITY MAXFLOAT NAN NULL OVERFLOW PLOSS SING SNAN TLOSS UNDERFLOW X_TLOSS
"""))  # fmt: skip
"""Of the language, of later versions of it and of compilers; and macros, which would be replaced."""
MACROS = re.compile(r"(FP|MATH|M|BIG|LITTLE)_|HUGE")
FUNCTIONS = frozenset(re.findall(r"\w+", """
    abort abs acos acosh asin asinh atan atan2 atanh calloc cbrt ceil copysign cos cosh erf erfc exit exp exp2 expm1
    fabs fdim floor fma fmax fmin fmod fpclassify fprintf fputc fputs free frexp fwrite gamma hypot ilogb j0 j1 jn labs
    ldexp lgamma llabs llrint llround log log10 log1p log2 logb lrint lround main malloc modf nan nearbyint nextafter
    nexttoward pow printf putchar puts realloc remainder remquo rint round scalb scalbln scalbn scanf signbit sin sinh
    snprintf sprintf sqrt tan tanh tgamma trunc y0 y1 yn
"""))  # fmt: skip
"""Of the library: compilers know what these mean, whether they are included or not."""
FAMILIES = re.compile(r"(is|mem|str|wcs)[a-z]")
LONGEST_TEXT = 4095
"""Bytes of a text that every C compiler takes."""

HEAD = """/* {facts}
 * {checked}
 *
 * {name}(&row, scores, probabilities) gives the place of the label in {name}_labels, and writes {scores} to scores
 * and {shares} to probabilities ({note}). Texts are UTF-8.
 * Missing is NaN for a number, NULL for a text. Where the model refuses a row, the place is -1 on purpose, and all that
 * is written is NaN: a value that is missing where none was in the training rows, {unseen}a number that is not
 * finite, a score that overflows.
 * C99; link with -lm. */
#include <math.h>
#include <string.h>

"""


SEARCH = """static int {name}_place(const char *text, const char *const *levels, int count)
{{
    int k;
    for (k = 0; k < count; k++)
        if (strcmp(text, levels[k]) == 0)
            return k;
    return -1;
}}

"""


def is_field(name: str) -> bool:
    """Whether a field of a struct may be called so."""
    return IDENTIFIER.match(name) is not None and name not in WORDS and not MACROS.match(name)


def is_of_the_library(name: str) -> bool:
    """Whether a function of C is, or may be, called so; sinf and sinl are as sin is."""
    names = {name, name.removesuffix("f"), name.removesuffix("l")}
    return FAMILIES.match(name) is not None or not FUNCTIONS.isdisjoint(names)


class C(Language):
    """Expressions in C."""

    def call(self, function: str, *arguments: str) -> str:
        if function != "max":
            return super().call({"abs": "fabs"}.get(function, function), *arguments)
        found = arguments[-1]
        for each in reversed(arguments[:-1]):
            found = f"fmax({each}, {found})"
        return found

    def finite(self, value: Expression) -> str:
        x = self.inside(value)
        return f"isfinite({x}) ? {x} : NAN"

    def choice(self, value: Choice) -> str:
        return f"((const double[]){{{', '.join(map(self.signed, value.values))}}})[{value.code}]"

    def condition(self, value: If) -> str:
        return f"{self.test(value)} ? {self.inside(value.then)} : {self.inside(value.other)}"


def text_literal(text: str) -> str:
    r"""A text in C: what is not a plain sign is written by its bytes, in octal, which no digit that follows prolongs.

    >>> print(text_literal('é"?'))
    "\303\251\"\?"
    """
    escapes = {ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?"}  # ??= would be another sign
    if len(text.encode("utf-8")) > LONGEST_TEXT:
        raise CannotExportError(
            f"The text that begins with {text[:40]!r} is a level or a class of more than {LONGEST_TEXT} bytes, and C "
            "compilers need not take it: shorten it and fit again, or export the model to 'python', 'sql' or 'onnx'."
        )
    found = "".join(
        escapes.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in text.encode("utf-8")
    )
    return f'"{found}"'


def c_text(program: Program, checked: str, *, name: str = "predict") -> str:
    """The text of a file with one function of this name."""
    if not is_field(name) or is_of_the_library(name):
        raise SettingError(
            "name", name, "it must be a name that a C function can have, of up to 31 signs and none of C's own."
        )
    to, K = C(), len(program.classes)
    fields = _fields(program)
    shares = K if program.probabilities else 0
    note = "one for each class, in the order of the labels" if shares else "which may be NULL: the model has none"
    unseen = "" if all(cell.unseen == "reference" for cell in program.cells) else "a level that no training row had, "
    lines = [
        HEAD.format(facts=_comment(" ".join(program.facts)), checked=_comment(checked), name=name,
                    scores=len(program.scores), shares=shares, note=note, unseen=unseen),
        f"typedef struct {{\n{''.join(_field(cell, fields[cell.value]) for cell in program.cells)}}} {name}_row;\n\n",
        f"const char *const {name}_labels[] = {{{', '.join(text_literal(str(k)) for k in program.classes)}}};\n\n",
        SEARCH.format(name=name) if _has_texts(program) else "",
        f"int {name}(const {name}_row *row, double *scores, double *probabilities)\n{{\n",
    ]  # fmt: skip
    lines += [_read(cell, fields[cell.value], name, to) for cell in program.cells]
    lines += [f"    const double {step.name} = {to.write(step.value)};\n" for step in program.steps]
    finite = " || ".join(f"isnan({each})" for each in program.scores)
    lines.append(f"    if ({finite})\n        goto refused;\n")
    lines += [f"    scores[{k}] = {each};\n" for k, each in enumerate(program.scores)]
    lines += [f"    probabilities[{k}] = {each};\n" for k, each in enumerate(program.probabilities)]
    lines += [] if shares else ["    (void)probabilities;\n"]
    lines += [*_places(program.place, to), "\nrefused:\n"]
    lines += [f"    scores[{k}] = NAN;\n" for k in range(len(program.scores))]
    lines += [f"    probabilities[{k}] = NAN;\n" for k in range(shares)]
    lines.append("    return -1;\n}\n")
    return "".join(lines)


def _places(value: Any, to: C) -> Iterator[str]:
    """The place of the class, by conditions one after the other: in each other they would go too deep."""
    chain, last = branches_of(value)
    for each in chain:
        yield f"    if ({to.test(each)})\n        return {place_of(each.then)};\n"
    yield f"    return {place_of(last)};\n"


def _has_texts(program: Program) -> bool:
    return any(cell.column.kind == "category" for cell in program.cells)


def _fields(program: Program) -> dict[str, str]:
    """A name in the struct for each cell: that of the column where C allows it."""
    taken: set[str] = set()
    found = {}
    for j, cell in enumerate(program.cells, 1):
        name = cell.column.name
        plain = is_field(name) and name not in taken
        found[cell.value] = name if plain and not name.startswith("column_") else f"column_{j}"
        taken.add(found[cell.value])
    return found


def _field(cell: Cell, field: str) -> str:
    kind = "const char *" if cell.column.kind == "category" else "double "
    return f"    {kind}{field}; /* {_comment(cell.column.name)} */\n"


def _comment(text: str) -> str:
    """Safe inside a comment, and in ASCII."""
    plain = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    return re.sub(r"\?(?=\?)", "? ", plain.replace("*/", "* /").replace("/*", "/ *")).rstrip("\\")


def _unknown(cell: Cell, to: C) -> str:
    """Whether a number is one that the model does not know."""
    x, (low, high, whole) = cell.value, cell.allowed
    tests = [f"{x} < {to.signed(low)}"] if low is not None else []
    tests += [f"{x} > {to.signed(high)}"] if high is not None else []
    tests += [f"{x} != floor({x})"] * whole
    return " || ".join([f"!isfinite({x})", *tests])


def _read(cell: Cell, field: str, name: str, to: C) -> str:
    given, value = f"row->{field}", cell.value
    if cell.column.kind == "category":
        missing = f"{given} == NULL"
        levels = ", ".join(map(text_literal, cell.column.levels))
        count = len(cell.column.levels)
        table = f"    static const char *const {value}_texts[] = {{{levels}}};\n"
        absent = -1 if cell.filled is None else 0
        read = f"    int {value} = {missing} ? {absent} : {name}_place({given}, {value}_texts, {count});\n"
        if cell.unseen == "reference":
            refuse = "" if cell.filled is not None else f"    if ({missing})\n        goto refused;\n"
            after = f"    if ({value} < 0)\n        {value} = 0;\n"
        else:
            refuse, after = f"    if ({value} < 0)\n        goto refused;\n", ""
        lines = table + read + refuse + after
    else:
        missing = f"isnan({given})"
        number = to.scaled(given, cell.column.center, cell.column.scale) if cell.shifted else given
        filled = number if cell.filled is None else f"{missing} ? {to.signed(cell.filled)} : {number}"
        lines = f"    const double {value} = {filled};\n    if ({_unknown(cell, to)})\n        goto refused;\n"
    if cell.missing is not None:
        lines += f"    const double {cell.missing} = {missing} ? 1.0 : 0.0;\n"
    return lines
