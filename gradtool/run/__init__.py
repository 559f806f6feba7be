"""A whole run: the plan, who does the work, and the report of it."""
