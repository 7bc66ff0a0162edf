"""The comparison of what is derived with the issues, and its repair."""
