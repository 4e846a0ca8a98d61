"""Receipts are made, signed and laid where they are found."""
