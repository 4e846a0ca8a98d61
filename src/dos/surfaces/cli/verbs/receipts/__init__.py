"""Receipts: made, checked and handed out."""
