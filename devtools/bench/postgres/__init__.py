"""`./dev bench --compare postgres`: the same issues and the same questions, here and in a PostgreSQL of two designs."""
