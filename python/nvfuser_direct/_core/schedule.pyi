"""Propagate transforms, inline, schedule automatically."""
