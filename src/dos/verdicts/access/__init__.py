"""May it? Lanes, scope and admission."""
