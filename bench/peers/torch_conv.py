#!/usr/bin/env python3
"""Dense convolution in PyTorch, timed on the shapes of `bench kernels --json`.

One JSON object a line, with the keys of that command, so the two can be laid side by side.
form "mean" is one dense convolution. form "mean+variance" is what local reparameterisation
costs with dense tensors: x with mu, and x^2 with sigma^2. op "forward" is the products
alone, op "step" forward and backward to the input and to every weight. Noise, square root
and normalisation are left out on both sides: these are the products.
"""
import argparse
import json
import time

import torch
import torch.nn.functional as F

SHAPES = [(160, 32), (320, 16), (640, 8)]  # channels, rows and columns
KERNEL = 3


def products(x, weights):
    """The convolutions of one layer: of x, and of x^2 if there is a second weight."""
    inputs = (x, x * x) if len(weights) == 2 else (x,)
    return [F.conv2d(i, w, padding=KERNEL // 2) for i, w in zip(inputs, weights)]


def step(x, weights, gradients):
    for tensor in (x, *weights):
        tensor.grad = None
    torch.autograd.backward(products(x, weights), gradients)


def forward(x, weights, _):
    with torch.no_grad():
        products(x, weights)


def best_seconds(run, args, repeats):
    run(*args)  # the first call chooses an implementation and touches the memory
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run(*args)
        best = min(best, time.perf_counter() - start)
    return best


def measure(channels, size, form, opt):
    count = 2 if form == "mean+variance" else 1
    layout = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}[opt.layout]

    def random(*shape):
        return torch.randn(*shape).contiguous(memory_format=layout)

    x = random(opt.batch, channels, size, size).requires_grad_(True)
    weights = [(random(channels, channels, KERNEL, KERNEL) * 0.1).requires_grad_(True)
               for _ in range(count)]
    gradients = [random(opt.batch, channels, size, size) for _ in range(count)]
    flops = 2.0 * count * opt.batch * (channels * KERNEL * size) ** 2
    for op, run, passes in (("forward", forward, 1), ("step", step, 3)):
        seconds = best_seconds(run, (x, weights, gradients), opt.repeats)
        yield {"op": op, "form": form, "channels": channels, "size": size,
               "kernel": KERNEL, "density": 1.0, "batch": opt.batch,
               "threads": opt.threads, "seconds": round(seconds, 6),
               "gflops": round(passes * flops / seconds / 1e9, 2), "peer": "torch"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5, help="the best of these counts")
    parser.add_argument("--channels", type=int, help="only the shape with so many channels")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nchw")
    opt = parser.parse_args()
    torch.set_num_threads(opt.threads)
    torch.manual_seed(1)
    for channels, size in SHAPES:
        if opt.channels in (None, channels):
            for form in ("mean", "mean+variance"):
                for row in measure(channels, size, form, opt):
                    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
