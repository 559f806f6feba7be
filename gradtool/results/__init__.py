"""The result model: what a run found out, as plain typed data that every room may import."""
