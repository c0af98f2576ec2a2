"""Calls the C library of the examples."""

from example._native import sum_of

__all__ = ["sum_of"]
