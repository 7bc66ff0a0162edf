"""`./dev oracle`: random queries, answered by the grid and by SQLite, and compared."""
