"""Learners of many classes, or of overlapping ones, made of any learner of two."""
