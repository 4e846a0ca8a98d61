"""What holds work back that could be done: a provider without room, a budget that is spent, a person who was asked."""
