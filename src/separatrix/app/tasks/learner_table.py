"""The learners by name, made of their cards, signatures and docstrings; do not write here.

Of each its class, its options with their defaults, what else the class and its `fit` take, and the method that a fit is
watched by. Of each option the kinds of values that it takes, and its help.

    python -m tests.house.test_learner_table     makes it anew
"""

from __future__ import annotations

from typing import Any

LearnerRow = tuple[str, dict[str, Any], tuple[str, ...], str]
OptionRow = tuple[tuple[str, ...], str]
# fmt: off
LEARNERS: dict[str, LearnerRow] = {
    'averaged': ('AveragedPerceptron', {'learning_rate': 1.0, 'max_passes': 10, 'order': 'cyclic', 'patience': None,
    'ties': 'mistake', 'init': None, 'fit_intercept': True}, ('random_state', 'warm_start'), 'stretches'),
    'bernoulli-naive-bayes': ('BernoulliNaiveBayes', {'smoothing': 1.0, 'priors': None, 'threshold': None},
    ('sample_weight',), 'steps'),
    'discriminant': ('GaussianDiscriminant', {'covariance': 'shared', 'shrinkage': None, 'priors': None, 'n_threads':
    None}, ('sample_weight',), 'steps'),
    'gaussian-naive-bayes': ('GaussianNaiveBayes', {'variance': 'own', 'smoothing': 1.0, 'priors': None},
    ('sample_weight',), 'steps'),
    'joint': ('JointClassifier', {'loss': 'log', 'l2': 0.0, 'class_weight': None, 'tol': 1e-10, 'max_passes': 200,
    'starts': 10, 'init': None}, ('random_state', 'warm_start', 'feature_map', 'sample_weight'), 'steps'),
    'joint-perceptron': ('JointPerceptron', {'learning_rate': 1.0, 'max_passes': 1000, 'order': 'cyclic', 'patience':
    None, 'ties': 'mistake', 'averaged': False, 'init': None}, ('random_state', 'warm_start', 'feature_map'), ''),
    'kernel': ('KernelPerceptron', {'kernel': 'linear', 'degree': 2, 'gamma': None, 'constant': 1.0, 'reading': 'last',
    'budget': None, 'overflow': 'remove', 'multiclass': 'joint', 'max_passes': 30, 'order': 'cyclic', 'patience': None,
    'ties': 'mistake', 'fit_intercept': True, 'n_threads': None}, ('random_state',), ''),
    'least-squares': ('LeastSquaresClassifier', {'l2': 0.0, 'fit_intercept': True, 'solver': 'closed', 'learning_rate':
    None, 'order': 'permutation', 'averaging': False, 'max_passes': 100, 'tol': 1e-06, 'n_threads': None},
    ('random_state', 'sample_weight'), 'steps'),
    'logistic': ('LogisticRegression', {'objective': 'likelihood', 'solver': 'auto', 'l2': 0.0, 'fit_intercept': True,
    'class_weight': None, 'prior': None, 'init': 'least-squares', 'tol': 1e-10, 'max_passes': 200, 'starts': 10,
    'learning_rate': None, 'order': 'permutation', 'averaging': False, 'n_threads': None}, ('random_state',
    'warm_start', 'features', 'sample_weight'), 'steps'),
    'margin': ('MaxMarginClassifier', {'tol': 1e-10, 'fit_intercept': True, 'lifted': False, 'max_passes': 1000,
    'n_threads': None}, ('sample_weight',), 'steps'),
    'naive-bayes': ('NaiveBayes', {'families': 'gaussian', 'variance': 'own', 'smoothing': 1.0, 'priors': None,
    'threshold': None}, ('sample_weight',), 'steps'),
    'online': ('OnlinePerceptron', {'learning_rate': 1.0, 'ties': 'mistake', 'fit_intercept': True}, (), ''),
    'perceptron': ('Perceptron', {'learning_rate': 1.0, 'max_passes': 1000, 'order': 'cyclic', 'patience': None, 'ties':
    'mistake', 'init': None, 'fit_intercept': True}, ('random_state', 'warm_start'), 'stretches'),
    'pocket': ('Pocket', {'ratchet': True, 'learning_rate': 1.0, 'max_passes': 1000, 'order': 'random', 'patience':
    None, 'ties': 'mistake', 'init': None, 'fit_intercept': True}, ('random_state', 'warm_start'), 'stretches'),
    'poisson-naive-bayes': ('PoissonNaiveBayes', {'smoothing': 1.0, 'priors': None}, ('sample_weight',), 'steps'),
    'voted': ('VotedPerceptron', {'last_half': False, 'learning_rate': 1.0, 'max_passes': 10, 'order': 'cyclic',
    'patience': None, 'ties': 'mistake', 'init': None, 'fit_intercept': True}, ('random_state', 'warm_start'),
    'stretches'),
    'zero-one': ('ZeroOneClassifier', {'time_limit': 60.0, 'fit_intercept': True, 'class_weight': None},
    ('random_state', 'sample_weight'), 'steps'),
}
REDUCTIONS: dict[str, LearnerRow] = {
    'one-vs-one': ('OneVsOne', {'decide': 'votes', 'probabilities': 'coupling'}, ('estimator', 'n_jobs',
    'sample_weight'), 'steps'),
    'one-vs-rest': ('OneVsRest', {'classifiers': 'K', 'probabilities': 'normalise'}, ('estimator', 'n_jobs',
    'sample_weight'), 'steps'),
    'output-code': ('OutputCode', {'code': 'dense', 'decide': 'scores'}, ('random_state', 'estimator', 'n_jobs',
    'sample_weight'), 'steps'),
}
OPTIONS: dict[str, OptionRow] = {
    'objective': (('word',),
    'What is minimised. [likelihood, squared, exponential, squared-hinge, firth or flic] [default of logistic: '
    'likelihood]'),
    'solver': (('word',),
    'How the minimum is found. [of logistic: auto, gauss-newton, gradient, lbfgs, newton or stochastic; of '
    'least-squares: closed or stochastic] [default of logistic: auto; of least-squares: closed]'),
    'l2': (('number', 'word'),
    'The penalty, (l2/2)‖w‖² beside the mean loss. [a number or cv] [default of logistic, joint, least-squares: 0]'),
    'fit_intercept': (('flag',),
    'Whether there is an intercept b. [default of logistic, averaged, kernel, least-squares, margin, online, '
    'perceptron, pocket, voted, zero-one: yes]'),
    'class_weight': (('numbers-by-class', 'word'),
    'Factors on the costs of the rows of each class. [numbers by class (yes=2,no=1), balanced or none] [default of '
    'logistic, joint, zero-one: none]'),
    'prior': (('numbers-by-class', 'word'),
    'The shares of the classes that probabilities speak of. [numbers by class (yes=2,no=1), data or none] [default '
    'of logistic: none]'),
    'init': (('numbers', 'word'),
    'Where the weights start. [numbers (0.3,0.7), least-squares, zero, random or none] [default of averaged, joint,'
    ' joint-perceptron, perceptron, pocket, voted: none; of logistic: least-squares]'),
    'tol': (('number',),
    'The relative gap to be proved. [a number] [default of logistic, joint, margin: 1e-10; of least-squares: 1e-06]'),
    'max_passes': (('number',),
    'How many passes over the rows at the most. [a number] [default of joint-perceptron, margin, perceptron, '
    'pocket: 1000; of logistic, joint: 200; of averaged, voted: 10; of kernel: 30; of least-squares: 100]'),
    'starts': (('count',),
    'How many descents, where there may be several minima. [a whole number] [default of logistic, joint: 10]'),
    'learning_rate': (('number',),
    'The length of a step, η. [a number or none] [default of averaged, joint-perceptron, online, perceptron, '
    'pocket, voted: 1; of logistic, least-squares: none]'),
    'order': (('word',),
    'How a pass takes the rows, one at a time. [of averaged, joint-perceptron, kernel, perceptron, pocket, voted: '
    'cyclic, random or replacement; of logistic, least-squares: cyclic, permutation or replacement] [default of '
    'averaged, joint-perceptron, kernel, perceptron, voted: cyclic; of logistic, least-squares: permutation; of '
    'pocket: random]'),
    'averaging': (('flag',),
    'Whether a stochastic descent ends with the mean of its weights over all steps. [default of logistic, '
    'least-squares: no]'),
    'n_threads': (('count',),
    'How many threads. [a whole number or none] [default of logistic, discriminant, kernel, least-squares, margin: '
    'none]'),
    'patience': (('count',),
    'End after so many steps without a change. [a whole number or none] [default of averaged, joint-perceptron, '
    'kernel, perceptron, pocket, voted: none]'),
    'ties': (('word',),
    'What a tie is while learning. [mistake, positive or negative] [default of averaged, joint-perceptron, kernel, '
    'online, perceptron, pocket, voted: mistake]'),
    'smoothing': (('number',),
    'How many rows a prior guess is worth, α. [a number] [default of bernoulli-naive-bayes, gaussian-naive-bayes, '
    'naive-bayes, poisson-naive-bayes: 1]'),
    'priors': (('numbers', 'word'),
    'The probabilities of the classes, p(k). [numbers (0.3,0.7), equal or none] [default of bernoulli-naive-bayes, '
    'discriminant, gaussian-naive-bayes, naive-bayes, poisson-naive-bayes: none]'),
    'threshold': (('number',),
    'Which numbers count as 1 in Bernoulli columns: those above it. [a number or none] [default of '
    'bernoulli-naive-bayes, naive-bayes: none]'),
    'covariance': (('word',),
    'Whether the classes share a covariance, or each has its own: linear or quadratic discriminant. [shared or own]'
    ' [default of discriminant: shared]'),
    'shrinkage': (('number', 'word'),
    'How far a covariance is drawn towards that of a ball. [a number, ledoit-wolf or none] [default of '
    'discriminant: none]'),
    'variance': (('word',),
    'Whether each class has variances of its own in Gaussian columns, or all share them. [own or shared] [default '
    'of gaussian-naive-bayes, naive-bayes: own]'),
    'loss': (('word',),
    'What a row costs. [log or squared] [default of joint: log]'),
    'averaged': (('flag',),
    'Whether the weights are the mean of those before each step and after the last, not the last. [default of '
    'joint-perceptron: no]'),
    'kernel': (('word',),
    'How alike two rows are, k(x, z). [linear, polynomial, rbf or precomputed] [default of kernel: linear]'),
    'degree': (('count',),
    'The degree of a polynomial kernel. [a whole number] [default of kernel: 2]'),
    'gamma': (('number',),
    'γ of a polynomial or rbf kernel. [a number or none] [default of kernel: none]'),
    'constant': (('number',),
    'The constant c of a polynomial kernel. [a number] [default of kernel: 1]'),
    'reading': (('word',),
    'Which weights predict: the last, the mean of all, or all of them by a vote. [last, averaged or voted] [default'
    ' of kernel: last]'),
    'budget': (('count',),
    'How many rows may be kept. [a whole number or none] [default of kernel: none]'),
    'overflow': (('word',),
    'What is done about a row over the budget. [remove or project] [default of kernel: remove]'),
    'multiclass': (('word',),
    'How more than two classes are learnt. [joint or one-vs-rest] [default of kernel: joint]'),
    'lifted': (('flag',),
    'Whether the intercept is a weight as any other, of a column of ones. [default of margin: no]'),
    'families': (('words-by-column', 'word'),
    'How the columns are distributed within a class. [words by column (age=gaussian,*=bernoulli), gaussian, '
    'bernoulli, poisson, categorical, exponential or geometric] [default of naive-bayes: gaussian]'),
    'ratchet': (('flag',),
    'Whether only weights that are better on all rows go into the pocket. [default of pocket: yes]'),
    'last_half': (('flag',),
    'Whether only the last half of the classifiers votes. [default of voted: no]'),
    'time_limit': (('number',),
    'How many seconds to search. [a number] [default of zero-one: 60]'),
    'decide': (('word',),
    'Whether votes or scores decide. [votes or scores] [default of one-vs-one: votes; of output-code: scores]'),
    'probabilities': (('word',),
    'How probabilities are made of those of the classifiers. [coupling or normalise] [default of one-vs-one: '
    'coupling; of one-vs-rest: normalise]'),
    'classifiers': (('word',),
    'How many classifiers K classes have. [K or K-1] [default of one-vs-rest: K]'),
    'code': (('word',),
    'Which classes each classifier tells apart. [dense, sparse or exhaustive] [default of output-code: dense]'),
}
