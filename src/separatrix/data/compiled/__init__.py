"""Compiled passes over blocks of rows."""
