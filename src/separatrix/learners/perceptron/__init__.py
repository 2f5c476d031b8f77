"""The perceptron family."""
