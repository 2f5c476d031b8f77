"""Firth's penalised likelihood."""
