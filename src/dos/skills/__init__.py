"""The skills that drive the loops from inside an agent program: their texts, and the copies."""
