"""How git is called: which exit codes of a command are answers."""
