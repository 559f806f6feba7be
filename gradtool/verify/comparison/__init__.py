"""Analytic derivatives compared with numeric ones."""
