"""How each agent program tells a hook what happens, and what it wants to hear, one file a moment."""
