"""Exports: a model as a program of another language, which takes the cells of a table and needs nothing of ours."""
