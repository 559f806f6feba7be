"""Prints tensors digit by digit, for the modules beside it."""


def show(name, tensor):
    values = tensor.detach().reshape(-1).tolist()
    print(name, tuple(tensor.shape), tensor.dtype)
    for value in values:
        print(f"  {value:.15g}" if isinstance(value, float) else f"  {value}")
