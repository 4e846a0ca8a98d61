"""States folded from the journal; each can be dropped and rebuilt."""
