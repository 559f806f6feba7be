"""The result model: what a run found out, as plain typed data that every package may import."""
