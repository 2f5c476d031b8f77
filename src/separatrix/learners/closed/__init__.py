"""Learners with closed forms: least squares, naive Bayes, Gaussian discriminants."""
