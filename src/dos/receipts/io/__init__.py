"""Makes, signs, keeps, finds and verifies receipts."""
