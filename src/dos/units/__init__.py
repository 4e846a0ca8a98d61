"""What there is to do: units and the policy of their names."""
