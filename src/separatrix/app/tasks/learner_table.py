"""The learners by name, made of their cards and signatures; do not write here.

Of each its class, its options with their defaults, whether it knows weights, whether chance plays a part, and the
method that a fit is watched by.

    python -m tests.house.test_learner_table     makes it anew
"""

from __future__ import annotations

from typing import Any

Row = tuple[str, dict[str, Any], bool, bool, str]
# fmt: off
LEARNERS: dict[str, Row] = {
    'averaged': ('AveragedPerceptron', {'learning_rate': 1.0, 'max_passes': 10, 'order': 'cyclic', 'patience': None,
    'ties': 'mistake', 'init': None, 'fit_intercept': True}, False, True, 'stretches'),
    'bernoulli-naive-bayes': ('BernoulliNaiveBayes', {'smoothing': 1.0, 'priors': None, 'threshold': None}, True, False,
    'steps'),
    'discriminant': ('GaussianDiscriminant', {'covariance': 'shared', 'shrinkage': None, 'priors': None, 'n_threads':
    None}, True, False, 'steps'),
    'gaussian-naive-bayes': ('GaussianNaiveBayes', {'variance': 'own', 'smoothing': 1.0, 'priors': None}, True, False,
    'steps'),
    'joint': ('JointClassifier', {'loss': 'log', 'l2': 0.0, 'class_weight': None, 'tol': 1e-10, 'max_passes': 200,
    'starts': 10, 'init': None}, True, True, 'steps'),
    'joint-perceptron': ('JointPerceptron', {'learning_rate': 1.0, 'max_passes': 1000, 'order': 'cyclic', 'patience':
    None, 'ties': 'mistake', 'averaged': False, 'init': None}, False, True, ''),
    'kernel': ('KernelPerceptron', {'kernel': 'linear', 'degree': 2, 'gamma': None, 'constant': 1.0, 'reading': 'last',
    'budget': None, 'overflow': 'remove', 'multiclass': 'joint', 'max_passes': 30, 'order': 'cyclic', 'patience': None,
    'ties': 'mistake', 'fit_intercept': True, 'n_threads': None}, False, True, ''),
    'least-squares': ('LeastSquaresClassifier', {'l2': 0.0, 'fit_intercept': True, 'solver': 'closed', 'learning_rate':
    None, 'order': 'permutation', 'averaging': False, 'max_passes': 100, 'tol': 1e-06, 'n_threads': None}, True, True,
    'steps'),
    'logistic': ('LogisticRegression', {'objective': 'likelihood', 'solver': 'auto', 'l2': 0.0, 'fit_intercept': True,
    'class_weight': None, 'prior': None, 'init': 'least-squares', 'tol': 1e-10, 'max_passes': 200, 'starts': 10,
    'learning_rate': None, 'order': 'permutation', 'averaging': False, 'n_threads': None}, True, True, 'steps'),
    'margin': ('MaxMarginClassifier', {'tol': 1e-10, 'fit_intercept': True, 'lifted': False, 'max_passes': 1000,
    'n_threads': None}, True, False, 'steps'),
    'naive-bayes': ('NaiveBayes', {'families': 'gaussian', 'variance': 'own', 'smoothing': 1.0, 'priors': None,
    'threshold': None}, True, False, 'steps'),
    'online': ('OnlinePerceptron', {'learning_rate': 1.0, 'ties': 'mistake', 'fit_intercept': True}, False, False, ''),
    'perceptron': ('Perceptron', {'learning_rate': 1.0, 'max_passes': 1000, 'order': 'cyclic', 'patience': None, 'ties':
    'mistake', 'init': None, 'fit_intercept': True}, False, True, 'stretches'),
    'pocket': ('Pocket', {'ratchet': True, 'learning_rate': 1.0, 'max_passes': 1000, 'order': 'random', 'patience':
    None, 'ties': 'mistake', 'init': None, 'fit_intercept': True}, False, True, 'stretches'),
    'poisson-naive-bayes': ('PoissonNaiveBayes', {'smoothing': 1.0, 'priors': None}, True, False, 'steps'),
    'voted': ('VotedPerceptron', {'last_half': False, 'learning_rate': 1.0, 'max_passes': 10, 'order': 'cyclic',
    'patience': None, 'ties': 'mistake', 'init': None, 'fit_intercept': True}, False, True, 'stretches'),
    'zero-one': ('ZeroOneClassifier', {'time_limit': 60.0, 'fit_intercept': True, 'class_weight': None}, True, True,
    'steps'),
}
REDUCTIONS: dict[str, Row] = {
    'one-vs-one': ('OneVsOne', {'decide': 'votes', 'probabilities': 'coupling'}, True, False, 'steps'),
    'one-vs-rest': ('OneVsRest', {'classifiers': 'K', 'probabilities': 'normalise'}, True, False, 'steps'),
    'output-code': ('OutputCode', {'code': 'dense', 'decide': 'scores'}, True, True, 'steps'),
}
