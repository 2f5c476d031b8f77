"""What is wrong with a model file."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model file cannot be used: which file, where in it, and why."""

    def __init__(self, problem: str, *, path: str = "", where: str = "") -> None:
        self.problem, self.path, self.where = problem, path, where
        super().__init__(": ".join(part for part in (path, where, problem) if part))

    def of(self, path: str) -> ModelFileError:
        """The same, of this file."""
        return ModelFileError(self.problem, path=path, where=self.where)
