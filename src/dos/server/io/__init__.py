"""The sockets, the processes and the journal behind the server."""
