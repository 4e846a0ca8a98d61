"""What every surface needs of a verb: the table, its arguments, its context and its reply."""
