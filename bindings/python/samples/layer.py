"""One layer of a model: reads weight, bias and input from a safetensors file and prints gelu(weight @ input + bias).

    python3 layer.py MODEL.safetensors
"""

import math
import sys

import numpy as np

import hurray


# sample: layer
def gelu(values: np.ndarray) -> np.ndarray:
    return values * (1 + np.vectorize(math.erf)(values / math.sqrt(2))) / 2


def layer(path: str) -> np.ndarray:
    with hurray.File.open(path) as file, file["weight"] as weight, file["bias"] as bias, file["input"] as vector:
        assert file.copied_bytes == 0                       # the arrays below are views of the mapped file
        return gelu(weight.numpy() @ vector.numpy() + bias.numpy())
# end sample


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: layer.py MODEL.safetensors", file=sys.stderr)
        return 2
    for value in layer(arguments[0]):
        print(repr(float(value)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
