"""What surrounds a lane's work tree: files brought along, ports, the one tree that is shared, work that was saved."""
