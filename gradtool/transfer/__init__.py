"""Copies between host memory and a device: their cost by each route, and when they are safe."""
