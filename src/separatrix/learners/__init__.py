"""The classifiers, with scikit-learn's manners."""
