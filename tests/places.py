"""Where the tests find the repository, and the reference data beside it: tests that need these skip without them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
