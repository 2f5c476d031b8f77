"""Texts that are markup already: made by our own figures, which escape every text."""

from __future__ import annotations

import re
from typing import Any

OPTION = re.compile(r"--[a-z][a-z0-9-]*")


def markup(text: str) -> Any:
    """A picture, as the template takes it without escaping it again."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def coded(text: str) -> Any:
    """A sentence whose options are shown as what is typed, and never broken: --l2 in one piece."""
    from markupsafe import Markup, escape

    return Markup(OPTION.sub(r'<code class="option">\g<0></code>', str(escape(text))))  # noqa: S704 - escaped before
