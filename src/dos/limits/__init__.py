"""What may be used and spent: providers' limits and budgets. Pure."""
