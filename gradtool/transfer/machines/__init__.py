"""Machines that can be measured: a CUDA device, or the host standing in for one."""
