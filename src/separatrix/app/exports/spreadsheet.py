"""A model as formulas of one row of a spreadsheet, of functions that Excel and LibreOffice share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import SettingError
from ...wording import setting
from .program import CannotExportError, Cell, Choice, Expression, If, Language, Program, Sum, in_two

LONGEST = 8000
"""Signs of a formula; Excel takes 8192."""
ROW = "\0" * 7
"""Stands for the row while formulas are written, as no text holds it: as long as the last one, 1048576, so that none
grows too long when it is filled down."""
LONGEST_TEXT = 250
"""Signs of a text in a formula; Excel takes 255."""
MOST_LEVELS = 150
"""That fit into one CHOOSE of this length."""
MOST_CLASSES = 50
"""Formulas in each other; Excel takes 64."""
MOST_COLUMNS = 16_384
UNSAFE = ("=", "+", "-", "@", '"', "'", "\t", "\r", "\n")
"""How no title begins: ours begin with words of ours, as names of columns may be anything."""


class Sheet(Language):
    """Expressions in formulas: names are cells."""

    between = " "

    def __init__(self) -> None:
        self.at: dict[str, str] = {}

    def number(self, value: float) -> str:
        high, low = in_two(value)
        return _digits(high) if low == 0 else f"({_digits(high)}{'-' if low < 0 else '+'}{_digits(abs(low))})"

    def name(self, name: str) -> str:
        return self.at[name]

    def call(self, function: str, *arguments: str) -> str:
        return f"{function.upper()}({','.join(arguments)})"

    def finite(self, value: Expression) -> str:
        return self.write(value)  # what overflows is an error already

    def choice(self, value: Choice) -> str:
        return f"CHOOSE({self.at[value.code]}+1,{','.join(map(self.signed, value.values))})"

    def condition(self, value: If) -> str:
        test = f"{self.inside(value.left)}{value.sign}{self.inside(value.right)}"
        return f"IF({test},{self.write(value.then)},{self.write(value.other)})"


def _digits(value: float) -> str:
    return repr(value).replace("e", "E").removesuffix(".0")


def text_literal(text: str) -> str:
    """A text in a formula; what is not to be seen is written by its number."""
    parts, plain = [], ""
    for sign in text:
        if ord(sign) < 32 or len(plain) >= LONGEST_TEXT:
            parts += [f'"{plain}"'] if plain else []
            plain = ""
        if ord(sign) < 32:
            parts.append(f"CHAR({ord(sign)})")
        else:
            plain += '""' if sign == '"' else sign
    parts += [f'"{plain}"'] if plain or not parts else []
    return "&".join(parts)


def letters(column: int) -> str:
    """A, B, … Z, AA: the column counted from 0."""
    found = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        found = chr(65 + rest) + found
    return found


def spreadsheet_text(
    program: Program, checked: str, *, header: Sequence[str] | None = None, row: int = 2, prefix: str = ""
) -> str:
    """Two lines, parted by tabs: titles and formulas, to be pasted right of the table's last column."""
    names = [cell.column.name for cell in program.cells] if header is None else list(header)
    absent = [cell.column.name for cell in program.cells if cell.column.name not in names]
    if absent:
        raise SettingError(
            "header", header, "name the columns of the sheet in their order.",
            f"{setting('header')} lacks the column {absent[0]!r}:",
        )  # fmt: skip
    if prefix.startswith(UNSAFE):
        raise SettingError("prefix", prefix, "a title that begins so would be taken for a formula or a quote.")
    if isinstance(row, bool) or not isinstance(row, int) or row < 1:
        raise SettingError("row", row, "it must be the number of the first row, 1 or more.")
    if len(program.classes) > MOST_CLASSES:
        raise CannotExportError(
            f"The model has {len(program.classes)} classes, and formulas go only so deep: up to {MOST_CLASSES} can be "
            "exported to a spreadsheet. Export it to 'python' or 'sql'."
        )
    return _Writing(program, names, row).text(prefix, checked)


class _Writing:
    """Gives every answer and every step a column."""

    def __init__(self, program: Program, names: list[str], row: int) -> None:
        self.program, self.names, self.row = program, names, row
        self.to = Sheet()
        self.titles: list[str] = []
        self.formulas: list[str] = []

    def text(self, prefix: str, checked: str) -> str:
        """Answers first, then what they are made of, in any order: a sheet finds it."""
        program, to = self.program, self.to
        answers = [*program.score_titles, *program.probability_titles]
        note = "blank where the model refuses the row: a missing or unseen value, a cell that is no number"
        self.titles = [f"{prefix}label ({note}; {' '.join(checked.split())})", *(prefix + each for each in answers)]
        self.formulas = [""] * len(self.titles)
        for cell in program.cells:
            self._cell(cell)
        for step in program.steps:
            to.at[step.name] = self._put(step.name, step.value)
        known = "+".join(to.at[each] for each in program.scores)
        classes = ",".join(_label(each) for each in program.classes)
        place = to.write(program.place)
        self.formulas[0] = f'=IFERROR(IF(ISNUMBER({known}),CHOOSE({place}+1,{classes}),""),"")'
        for k, each in enumerate((*program.scores, *program.probabilities), 1):
            self.formulas[k] = f'=IFERROR({to.at[each]},"")'
        for title, formula in zip(self.titles, self.formulas, strict=True):
            if len(formula) > LONGEST:
                raise CannotExportError(
                    f"The formula of {title[:60]!r} has {len(formula)} signs, and Excel takes 8192: export the "
                    "model to 'python' or 'sql', or fit fewer levels."
                )
        if len(self.names) + len(self.titles) > MOST_COLUMNS:
            raise CannotExportError(
                f"The model takes {len(self.titles)} columns beside the table, and a sheet has {MOST_COLUMNS}: export "
                "it to 'python' or 'sql'."
            )
        titles = [" ".join(each.split()) for each in self.titles]
        return "\t".join(titles) + "\n" + "\t".join(self.formulas).replace(ROW, str(self.row)) + "\n"

    def _add(self, title: str, formula: str) -> str:
        """The cell that holds this formula."""
        self.titles.append(title)
        self.formulas.append("=" + formula)
        return f"{letters(len(self.names) + len(self.titles) - 1)}{ROW}"

    def _put(self, title: str, value: Any) -> str:
        """The cell of an expression; a sum that is too long is added up in parts."""
        text = self.to.write(value)
        if len(text) < LONGEST or not isinstance(value, Sum):
            return self._add(title, text)
        middle = len(value.terms) // 2
        if middle == 0:
            return self._add(title, text)
        parts = [self._put(f"{title} part", Sum(part)) for part in (value.terms[:middle], value.terms[middle:])]
        return self._add(title, "+".join(parts))

    def _cell(self, cell: Cell) -> None:
        to, column = self.to, cell.column
        x = f"{letters(self.names.index(column.name))}{ROW}"
        missing = f"ISBLANK({x})" if "" in column.levels else f'{x}=""'
        if column.kind == "category":
            filled = "NA()" if cell.filled is None else "0"
            to.at[cell.value] = self._level(cell, x, missing, filled)
        else:
            filled = "NA()" if cell.filled is None else to.signed(cell.filled)
            scaled = to.scaled(x, column.center, column.scale) if cell.shifted else x
            formula = f"IF({missing},{filled},IF(ISNUMBER({x}),{self._known(cell, x, scaled)},NA()))"
            to.at[cell.value] = self._add(f"number of {column.name}", formula)
        if cell.missing is not None:
            to.at[cell.missing] = self._add(f"missing: {column.name}", f"IF({missing},1,0)")

    def _known(self, cell: Cell, x: str, scaled: str) -> str:
        """The number, where it is one that the model knows."""
        low, high, whole = cell.allowed
        tests = [f"{x}>={self.to.signed(low)}"] if low is not None else []
        tests += [f"{x}<={self.to.signed(high)}"] if high is not None else []
        tests += [f"INT({x})={x}"] * whole
        return f"IF(AND({','.join(tests)}),{scaled},NA())" if tests else scaled

    def _level(self, cell: Cell, x: str, missing: str, filled: str) -> str:
        column = cell.column
        if len(column.levels) > MOST_LEVELS:
            raise CannotExportError(
                f"The column {column.name!r} has {len(column.levels)} levels; up to {MOST_LEVELS} can be exported to a "
                "spreadsheet. Export the model to 'python' or 'sql'."
            )
        terms = [f"{k}*EXACT({x},{text_literal(level)})" for k, level in enumerate(column.levels, 1)]
        parts, length = [[]], 0  # type: tuple[list[list[str]], int]
        for term in terms:
            if length + len(term) > LONGEST - 100:
                parts.append([])
                length = 0
            parts[-1].append(term)
            length += len(term) + 1
        found = "+".join(self._add(f"level from 1 of {column.name}", "+".join(part)) for part in parts)
        strange = "0" if cell.unseen == "reference" else "NA()"
        return self._add(f"level of {column.name}", f"IF({missing},{filled},IF({found}>0,{found}-1,{strange}))")


def _label(label: Any) -> str:
    if isinstance(label, bool):
        return f"{str(label).upper()}()"
    return text_literal(label) if isinstance(label, str) else repr(label)
