"""Verbs about what an agent said."""
