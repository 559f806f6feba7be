"""Copies between host memory and a device: what they cost, by which way, and when they are safe."""
