"""Shell text as tokens, and what of it is a keyword, is expanded or is evaluated."""
