"""What the library refuses, as types with fields: a setting, data, or a question that has no valid answer.

All are ValueErrors, as scikit-learn's checks demand; those with `Type` in their name are TypeErrors too. Who catches
one reads its fields: nobody reads the sentence. `str(error)` is the sentence for people, in the words of
`separatrix.wording`.
"""

from __future__ import annotations

from typing import Any

from . import wording


class SettingError(ValueError):
    """A setting that cannot be: its name, what was given, what is needed.

    >>> print(SettingError("tol", -1, "it must be positive."))
    tol is -1; it must be positive.
    """

    def __init__(self, setting: str, value: Any, needed: str, problem: str = "") -> None:
        super().__init__(setting, value, needed, problem)
        self.setting, self.value, self.needed, self.problem = setting, value, needed, problem

    def __str__(self) -> str:
        if self.problem:
            return f"{self.problem} {self.needed}".rstrip()
        return f"{wording.setting(self.setting)} is {self.value!r}; {self.needed}"


class SettingTypeError(SettingError, TypeError):
    """A setting of the wrong type."""


class DataError(ValueError):
    """Data that cannot be learnt from or predicted for: what is wrong, and where if that is known.

    >>> error = DataError("is NaN; give that row a label.", array="y", row=3)
    >>> print(error)
    y[3] is NaN; give that row a label.
    >>> error.problem, error.row
    ('is NaN; give that row a label.', 3)
    """

    def __init__(
        self, problem: str, *, array: str = "", row: int | None = None, column: Any = None, value: Any = None
    ) -> None:
        super().__init__(problem)
        self.problem, self.array, self.row, self.column, self.value = problem, array, row, column, value

    def __str__(self) -> str:
        return f"{self.array}{self._place()} {self.problem}" if self.array else self.problem

    def _place(self) -> str:
        """Row and column as an index; a row counts from 0."""
        named = [repr(at) for at in (self.row, self.column) if at is not None]
        return f"[{', '.join(named)}]" if named else ""

    def at(self, row: int) -> DataError:
        """A copy of the error for another row: where rows were chosen, the place among all of them."""
        return _data_error(type(self), self.problem, self.array, row, self.column, self.value)

    def __reduce__(self) -> Any:
        return _data_error, (type(self), self.problem, self.array, self.row, self.column, self.value)


class DataTypeError(DataError, TypeError):
    """Data of the wrong type."""


class Refusal(ValueError):  # noqa: N818  a refusal is no mistake
    """A question about sound data that has no valid answer, and why."""


class UndecidedError(Refusal, ArithmeticError):
    """An answer that floating point hides: no digit of it could be vouched for."""


def _data_error(kind: type[DataError], problem: str, array: str, row: Any, column: Any, value: Any) -> DataError:
    """The error that another process raised."""
    return kind(problem, array=array, row=row, column=column, value=value)
