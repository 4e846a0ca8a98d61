"""The verbs that run the server and show its address."""
