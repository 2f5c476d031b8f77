"""What C has a meaning for already."""

from __future__ import annotations

import re

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


def is_field(name: str) -> bool:
    """Whether a field of a struct may be called so."""
    return IDENTIFIER.match(name) is not None and name not in WORDS and not MACROS.match(name)


def is_of_the_library(name: str) -> bool:
    """Whether a function of C is, or may be, called so; sinf and sinl are as sin is."""
    names = {name, name.removesuffix("f"), name.removesuffix("l")}
    return FAMILIES.match(name) is not None or not FUNCTIONS.isdisjoint(names)
