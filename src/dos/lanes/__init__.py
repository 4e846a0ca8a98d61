"""Who may change what: lanes, scope and admission."""
