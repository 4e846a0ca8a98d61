"""What agents and checks get of the user: variables, settings, logins."""
