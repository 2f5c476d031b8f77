"""Small public data sets with published or recomputed optima, so that the tests need no other folder."""

import base64
import zlib
from typing import Any, NamedTuple

import numpy as np

SPECTOR_TEXT = """
    2.66 20 0 0; 2.89 22 0 0; 3.28 24 0 0; 2.92 12 0 0; 4 21 0 1; 2.86 17 0 0;
    2.76 17 0 0; 2.87 21 0 0; 3.03 25 0 0; 3.92 29 0 1; 2.63 20 0 0; 3.32 23 0 0;
    3.57 23 0 0; 3.26 25 0 1; 3.53 26 0 0; 2.74 19 0 0; 2.75 25 0 0; 2.83 19 0 0;
    3.12 23 1 0; 3.16 25 1 1; 2.06 22 1 0; 3.62 28 1 1; 2.89 14 1 0; 3.51 26 1 0;
    3.54 24 1 1; 2.83 27 1 1; 3.39 17 1 1; 2.67 24 1 0; 3.65 21 1 1; 4 23 1 1;
    3.1 21 1 0; 2.39 19 1 1
"""

LIZARDS_TEXT = """
    20 2 0 0 0 0 0; 8 1 0 0 0 1 0; 4 4 0 0 0 0 1; 13 0 1 0 0 0 0; 8 0 1 0 0 1 0; 12 0 1 0 0 0 1;
    8 3 0 1 0 0 0; 4 1 0 1 0 1 0; 5 3 0 1 0 0 1; 6 0 1 1 0 0 0; 1 1 1 1 0 0 1; 34 11 0 0 1 0 0;
    69 20 0 0 1 1 0; 18 10 0 0 1 0 1; 31 5 1 0 1 0 0; 55 4 1 0 1 1 0; 13 3 1 0 1 0 1; 17 15 0 1 1 0 0;
    60 32 0 1 1 1 0; 8 8 0 1 1 0 1; 12 1 1 1 1 0 0; 21 5 1 1 1 1 0; 4 4 1 1 1 0 1
"""

HEART_STEPS = (48, 1, 3, 106, 438, 1, 2, 131, 1, 62, 2, 3, 4)
HEART_TEXT = (
    "eNqdmetzVlcVxp993rdpSEIS3kBuJORKSiikYJCmUKqmYrhTGggGEOQSaE0qQ20tXkbx1oo36ljtB9Fx0Bl1pnVaq3QcxxkdnVFn+sUv+gfoJ/8K"
    "f3u9t3PZ54UxZ845e++11rOetc55195nZ1ITGtCYtmpc67VBQxrl2qsODTO+WWtoj6kVrS61q6Q+7mvUrUFkA9qoZrTXMTbMfTX3Vo1gu4beoNbS"
    "2gjuavVwHVWn2tAbQjaCbTdS723A0DrA9h4n9Qi+OjlasFuPpImzDclqrDbQWsd1GB59oJbAH4TfOuwn8DcAXhd43ken+tEeQm81kjVgbeRcS38A"
    "Nt5+BIQe47ARnTFG1oCyXg9YRnxc3Yz1otNqHLzvPiTd6PWD7xFXgdKPtN1Y9DI6rk0cE3oInBHTnUDiY2nj2ovmehBHiLTPziYYe4Q+rLZhNQij"
    "bkY8Mx+bz3A3VoMSCKPGqYNz3KJtYmzEpD1kpQX/HnvE/JRoP8RYr/EYwmKc65DZdzCygWc4jKcxsx+yJ9aFTQcMB2Dt8Ohq13Sr3o6PlcfTdln7"
    "eD9uV7dUylNSnsUOe00ySuLUJcrIQ7ErGFMcUzGkbAxZH+G+crKal8m8nCgnfgXy4xp4UGC8oMiu5VahdkTIq21Z21nbmVZUOeI2qrUj0yrL61au"
    "5q+OoooXV9GuSgoVH67WLtSiL9RGCwl/8X6holWNz1UYVmV19i5hF+dc5ucSsriVMzwl+ESVbEWxDFbzVcdJs4wqV2XyWT5U41XNq0sgRLVnFEeu"
    "P4dCIu6616j2HAo1fBfL17jV6FEqSz/tTk1phkq3jfsmRkvcp2y03zRLVJpxbaFXYnRUs7QO6X2MTdH2VW4XaON6kFo1ZRV2FrzNaHqccWqzt32K"
    "c4aev05zTqHha6Dn8AS9Nvy3EKvv76jodmonKMfBnTEkP2cM2bzRZOzajeGcSZpMp6QF5B8kmn5i6dcnKj49x1lsPffNSHqs+k6Zn23IhuAyAa8t"
    "jA3pApXWxzrBtWR+xi2OKcvZ8Qo7P18u2HyyhWMWaROSXsOYAWXMOHQyP3jrCVCmTGualp+NJ9HvNH+9VvW9dBfarTYTHOLq5w9vO1nJSyetGfM3"
    "aYgzWE5zrjO9WcuzPxcsW+Xsd2qP+fSZ8jHN2NOZMI79lhuvc4T7lDH4i+66V3RTt7D5sq7p5+pzK7qk57Sit8nb73RYJ7RfV/QS/SO6o+/rRf1S"
    "z+ibjF3Wov6mA1ge0/d4eh/Xec1rmWd0Bqse7td1UX/QUY25vSDuI0M79Dn9kAjfwcvz6P5Ar+hPegHUl/UfvMyB8a6exue8PgnOPr2qj+qgPs3Y"
    "q/oNeuf0nr7FG7YAl7dA/T2yDl0lhp/qhl6DxVeJZlR/J4p39GvYfhefd/D3I969n6DxX9ge1Lf1Ea7PYLeA7Dpvz7ReR/M40Sxgs6yTWNxGY5J3"
    "5Dv6vD6GzdtEe0SndVdPEv+z+P66vka0f8X3HIxvw+iG3mRkRr/QG2jcwM/zWu+myNl1srEL5DZ3i2xvI9Lb+hLInyXGa3B9Xb+C/ZtE8ob+iNW7"
    "yO6QlZM6hdcj+oKWkJ9F9wZv9nt6jOdzU/+C5+P6LfxeBu1ZnvcKsXwFTq/pz/oG3O/qi/i4pd34ewK9n2k7Mb5FNv+tf+gz+if5/DFZvULeb8J7"
    "ljwpMYeG/lxOzzWwTM6i4RVHqNf4z/1fGsn5+N4298cl3zYca6N47513dw//7p4aeTLXwCKqzPpRZn5TTRLl6EWpXtWijhxHUaoX14r3XcybUgyi"
    "BIO0Xtqni3mKEgyiFI8owDepF6XiUIq1UnmJcrgl86AAnyiTpyjzdJRCiQLsw08nnLdQPBHVZ5GKN8qaYS8VcY4ZYJ7qtYlqfIAqt5PKc5wqs0wd"
    "fI56uY+xD1vFPUt1OkpVvYjdo9bayfVTNgusUE8/gMajVOntehjJNSxWqM3nafeBMkw1nqNOX8JmEqtjVMtjIPkZZCuSQ1TKFXSWYbYbNufBWkZ+"
    "AI3HqIgX4L2R0UeohCeokafBFrL3Y3kOjAVGnmTOfJpYLtI+TQxPwGQY9lv5qnwKb2eYwy9Qqxe57gG9D8aLVOz9VNjzjFxFYycVvZfRh+GyBKOT"
    "zFfTcF2Ck8c9i9Y8GdqNn3lyc4zjCtX9IJZbaI2hfQicM8xUR7GeBuc0MR2C4SS4O2F/Au6nkJyE1WnOSzyPy0S6jHwerBfAPYenx5kjljjmsb5I"
    "PmbA9yz3sD74EJYv4XUvs9Ap7gew3Q7yEl6vko9FcrofD4fhOsdc9CKZ2WFZmsX+JD6XuC9yP8/YZaSHyW/6+yY7c4S+FLPzh2tQDcP9bD10wRrp"
    "cjBcw2rsgpU7FGX2qzY7D7mceSBtq0wGXe5s7HKyk/2uV+4sfL9jYUbKeebVvv+WKH/PFG0fpY1fxAMm6+fsZD07xOm/AiJk1SrdxK9MWPRwHdUq"
    "rl0x1CJnN2ez9VqwL7ebOMdtrN3QhGWPjZa/Bset3WrtDTbarLW2uve7aB5hc4VXGb+Fo2hfXa1YtthIO+zbKjqjMU7N9q3SCdIw8maLsYRts32l"
    "OEPspO33lx7kutb4tlda3kqWD9/2tjMWc4t9c1TZetuIvkNnFYy9xmaiisx/VyUDXXxLODQHazx9Plos17IoBizmNtMvUXsinlJkEbfX8jtgWqUK"
    "4w2V6NtMXqJGyp5QZIyLcOhAs8n20QYqKP7LqFix8Vx7sfNZ9NGtRtKR2XHK7uNEqf2d9Bsf3WMFGLLLWrvU7ym7N1WdB11OpcvbK6qvPKLaLksV"
    "Kf7bilL4eSvJOJP0/lOUu7MUBSOMgmv3ZNxRg33HZO2qx5OOI7qPr4Q4o+pelFJMCqlVoRKrNhf0EQVX7IXanlOdb7hWRqkMF4Kr5nQtjDI1udDg"
    "fa3utEWxWFXZHcruyNaffTIP6fV2dszVdrJU28OK+69m3QVQComokjEUAjvLheAsUYjlL/7ORrHcpH9ryqxOC1ZxilalivSKtaM+PxRrV6XmjWLM"
    "vhgbr0rKHooZpopZxOMoBltlzULMa7qV1Q7xLcauSa4hr4Waj0bxFwMcsphJ3XJOsqPxCIoBvsWcSAq1DBUTmMVgTPlci5l8u0wtcIH3M+9LPjwT"
    "KfC/hPx1pMvdFwjVwPB/KZT6z4YLrCpdgwjDOxB5MeTbpiu+C64rG69F89b+oTVk9r9PCq6N0/85Umatr8D4/wBw1yXx"
)


class Reference(NamedTuple):
    """A table, and what is known about its maximum-likelihood or ridge fit."""

    X: Any
    y: Any
    coef: tuple[float, ...] = ()
    intercept: float = 0.0
    log_likelihood: float = 0.0
    cost: Any = None


def _numbers(text: str) -> Any:
    return np.array([line.split() for line in text.strip().replace("\n", "").split(";")], dtype=float)


def spector() -> Reference:
    """Spector and Mazzeo: GPA, TUCE, PSI; whether the grade improved. Optimum in double precision."""
    table = _numbers(SPECTOR_TEXT)
    return Reference(
        table[:, :3],
        table[:, 3].astype(int),
        (2.8261125948893233, 0.09515766131790881, 2.3786876550933544),
        -13.021346858115686,
        -12.889634222131415,
    )


def spector_as_stata_had_it() -> Reference:
    """The same with GPA rounded to single precision, which gives the digits that Stata printed."""
    X, y, *_ = spector()
    X[:, 0] = X[:, 0].astype(np.float32)
    return Reference(X, y, (2.82611297201, 0.0951576702557, 2.37868772835), -13.0213483201, -12.8896334653335)


def lizards() -> Reference:
    """Schoener's lizards: height, diameter, shade, midday, late; grahami (1) against opalinus (0), by counts."""
    table = _numbers(LIZARDS_TEXT)
    X = np.repeat(table[:, 2:], 2, axis=0)
    return Reference(
        X,
        np.tile([1, 0], len(table)),
        (1.1299913463340672, -0.7626343157830786, -0.8472755343863768, 0.22711054349869506, -0.7368116755752802),
        1.9446882115722262,
        -280.1129461588331,
        table[:, :2].ravel(),
    )


def glmnet_ridge() -> Reference:
    """The example of scikit-learn's tests with glmnet's answer at λ = 1."""
    X = np.column_stack([np.arange(-4.0, 5.0), [0, 0, 1, 0, 1, 1, 1, 0, 0]])
    return Reference(X, np.array([0, 0, 0, 1, 1, 1, 1, 1, 1]), (0.44464569182, 0.01457563448), 0.89230405539)


def heart_scale() -> tuple[Any, Any]:
    """The 270 rows of heart_scale: each column in equal steps from −1 to 1, printed with six digits."""
    table = np.frombuffer(zlib.decompress(base64.b64decode(HEART_TEXT)), dtype="<u2").reshape(14, 270)
    columns = [[float(f"{2 * k / steps - 1:.6g}") for k in row] for row, steps in zip(table, HEART_STEPS, strict=False)]
    return np.array(columns).T, np.where(table[13], 1, -1)


HEART_OBJECTIVE = 98.2267995081368
"""½‖w‖² + Σ log(1 + exp(−y xᵀw)) at its minimum, no intercept."""
