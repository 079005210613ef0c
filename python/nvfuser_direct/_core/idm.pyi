"""Equivalence graphs over iteration domains."""
