"""``import torch`` answered by the bundled engine."""
