"""
Softmax regression on Iris
==========================

Notes 004, section 4.5, ends with the line "Example soft-max for Iris data?": here it is. The responses of three classes
become probabilities, and their likelihood is maximised. Look at the shading: sure of setosa, less and less sure between
versicolor and virginica, where the rings, the mistakes, are.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as Other

from separatrix import LogisticRegression, SeparationWarning, surrogates
from separatrix.plots import DecisionRegionsDisplay, ResponseDisplay

iris = load_iris(as_frame=True)
X, y = iris.data[["petal length (cm)", "petal width (cm)"]], iris.target_names[iris.target]

# %%
# Without a penalty there is no answer: setosa is parted from the others, so its weights would grow for ever. The
# verdict says so, and proves it. The notes do not mention this; a small penalty l2 helps.

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    plain = LogisticRegression().fit(X, y)
assert any(issubclass(each.category, SeparationWarning) for each in said)
assert plain.verdict_.status == "quasi-separated"
assert plain.verdict_.check(X, y)

l2 = 0.001
model = LogisticRegression(l2=l2).fit(X, y)
assert model.verdict_.status == "optimal"
assert model.verdict_.check(X, y)
print(model.verdict_)

# %%
# The multi-logistic transform: exp(r_c)/Σ exp(r_c′), adding up to one. Another library finds the same probabilities.

responses, sure = model.decision_function(X), model.predict_proba(X)
assert np.allclose(sure, np.exp(responses) / np.exp(responses).sum(axis=1, keepdims=True), atol=1e-12)
other = Other(C=1 / (l2 * len(y)), tol=1e-10, max_iter=10_000).fit(X, y)
assert np.allclose(sure, other.predict_proba(X), atol=1e-5)

# %%
# Both surrogates for one-hot targets, and what they say of the mistakes: J₀₁ ≤ 2 J_LMSE, and J₀₁ ≤ J_NLL/log 2.

one_hot = (y[:, None] == model.classes_).astype(float)
table = surrogates(model, X, y)
print(table)
assert np.isclose(table["NLL"].value, -np.mean(np.log((one_hot * sure).sum(axis=1))), rtol=1e-10)
assert np.isclose(table["LMSE"].value, np.mean(((one_hot - sure) ** 2).sum(axis=1)), rtol=1e-10)
assert table.mistakes == np.mean(model.predict(X) != y)
assert table.mistakes <= 2 * table["LMSE"].value
assert table.mistakes <= table["NLL"].value / np.log(2)

# %%
# Who gets what, and how surely; and the three probabilities along one feature.

fig, (left, right) = plt.subplots(1, 2, figsize=(12, 5.2), layout="constrained")
display = DecisionRegionsDisplay.from_estimator(
    model, X, y, probabilities=True, ax=left, title="The likeliest class, darker where it is surer"
)
curves = ResponseDisplay.from_estimator(
    model, X, y, features="petal length (cm)", response="probability", ax=right,
    title=f"Probabilities at the mean petal width, {X['petal width (cm)'].mean():.2f} cm",
)  # fmt: skip

fig.set_label(f"{display.alt_text} {curves.alt_text}")
