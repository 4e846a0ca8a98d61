"""What an agent said, and what its words are worth."""
