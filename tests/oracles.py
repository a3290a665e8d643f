"""Slow, obvious implementations that the fast ones are compared with."""

from __future__ import annotations
