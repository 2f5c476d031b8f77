"""Numbers as people read them."""

from __future__ import annotations

import math

MINUS = "−"
SMALL_P = 0.001


def number(value: float | None, digits: int = 4) -> str:
    """So many significant digits; whole numbers of up to seven digits are written out.

    >>> number(-0.123456), number(123456.7), number(1e-9), number(math.inf), number(None)
    ('−0.1235', '123457', '1.000e−09', '∞', '')
    """
    if value is None:
        return ""
    if math.isnan(value):
        return "—"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    whole = 10**digits <= abs(value) < 1e7
    return (f"{value:.0f}" if whole else f"{value:#.{digits}g}".removesuffix(".")).replace("-", MINUS)


def brief(value: float, digits: int = 3) -> str:
    """So many significant digits, without zeros at the end.

    >>> brief(63.0), brief(45.23), brief(-0.5), brief(1234567.0), brief(13339.9)
    ('63', '45.2', '−0.5', '1234567', '13340')
    """
    return number(value) if math.isinf(value) or math.isnan(value) else _short(value, digits)


def _short(value: float, digits: int) -> str:
    whole = (value == round(value) or abs(value) >= 10**digits) and abs(value) < 1e7
    return (f"{value:.0f}" if whole else f"{value:.{digits}g}").replace("-", MINUS)


def signed(value: float, digits: int = 2) -> str:
    """With its sign, so many digits after the point or as many significant ones if it is small.

    >>> signed(0.812), signed(-12.3456), signed(0.00123), signed(0.0)
    ('+0.81', '−12.35', '+0.0012', '+0.00')
    """
    if math.isinf(value) or math.isnan(value):
        return f"+{number(value)}" if value > 0 else number(value)
    small = 0 < abs(value) < 10.0 ** (1 - digits)
    return f"{value:+.{digits}{'g' if small else 'f'}}".replace("-", MINUS)


def p_value(p: float | None) -> str:
    """Three digits, or "<0.001".

    >>> p_value(0.0421), p_value(1e-9), p_value(math.nan)
    ('0.042', '<0.001', '—')
    """
    if p is None:
        return ""
    return "—" if math.isnan(p) else f"<{SMALL_P}" if p < SMALL_P else f"{p:.3f}"


def percent(p: float) -> str:
    """A probability in percent, with more digits near 0 and 1, and never rounded to certainty.

    >>> percent(0.7123), percent(0.0042), percent(0.99987), percent(1.0), percent(1e-9)
    ('71 %', '0.42 %', '99.987 %', '100 %', '1e−07 %')
    """
    rest = min(p, 1 - p)
    if rest in (0.0, 0.5) or rest >= 0.1:
        return f"{100 * p:.0f} %"
    if p < 0.5:
        return f"{100 * p:.2g} %".replace("-", MINUS)
    digits = min(13, max(0, 1 - math.floor(math.log10(100 * rest))))
    return f"{100 * p:.{digits}f} %"
