"""Segments of a definition as definitions."""

from __future__ import annotations


class SegmentMethods:
    """What `FusionDefinition` has for segmentation."""
