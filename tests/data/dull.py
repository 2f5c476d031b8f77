"""A place of rows that is deliberately dull: blocks come one at a time, as copies, and only `take` goes elsewhere."""

from dataclasses import dataclass

import numpy as np

from separatrix.data import Rows
from separatrix.data.block import Dense
from separatrix.data.source import Source


@dataclass(frozen=True)
class DullSource(Source):
    """The rows of `whole`, which nobody sees as a whole."""

    whole: Rows
    rows_in_a_block: int = 61

    @property
    def shape(self):
        return self.whole.shape

    @property
    def compiled(self):
        return self.whole.compiled

    @property
    def kind(self):
        return self.whole.block[:0]

    @property
    def weight(self):
        return self.fold(lambda rows, lo, hi: float(rows.cost.sum()) if rows.cost.size else float(hi - lo))

    @property
    def counting(self):
        return self.whole.counting

    def blocks(self):
        for lo in range(0, len(self), self.rows_in_a_block):
            yield self.take(np.arange(lo, min(lo + self.rows_in_a_block, len(self))))

    def each(self, f, *, blas=False):
        for block in self.blocks():
            for side in block.sides():
                yield f(side, 0, len(side))

    def sample(self, size, seed):
        if size >= len(self):
            return self.gathered()
        rng = np.random.default_rng(seed)
        rows = self.take(rng.permutation(len(self))[:size])
        return rows if rows.counting else self.gathered()

    def take(self, rows):
        found = self.whole.take(np.array(rows))
        if isinstance(found.block, Dense):
            assert not np.shares_memory(found.block.array, self.whole.block.array)
        return found

    def alike(self):
        return DullSource(self.whole.alike(), self.rows_in_a_block)
