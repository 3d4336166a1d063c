#!/usr/bin/env python3
"""torch_predict - one dense PyTorch network predicting: the peer of `bench predict`.

Evaluation mode, no gradients; softmax is part of it, as is the scaling of bytes. Throughput
is the best batch, latency the median of single images. Prints one JSON object.

--optimise fuses and freezes the network with TorchScript (torch.jit.optimize_for_inference),
which is what PyTorch offers for the purpose.
"""
import argparse
import json
import statistics
import time

import torch

from torch_step import CLASSES, Weights, network


class Plain(torch.nn.Module):
    """The layer as torch.nn has it, which tracing understands best."""

    def __new__(cls, layer):
        if layer.stride:
            out, n_in, kernel, _ = layer.mu.shape
            plain = torch.nn.Conv2d(n_in, out, kernel, layer.stride, layer.padding, bias=False)
        else:
            out, n_in = layer.mu.shape
            plain = torch.nn.Linear(n_in, out)
            plain.bias.data = layer.bias.data
        plain.weight.data = layer.mu.data
        return plain


def replace(module):
    for name, child in module.named_children():
        if isinstance(child, Weights):
            setattr(module, name, Plain(child))
        else:
            replace(child)


class Whole(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return torch.softmax(self.net((x.float() / 255.0 - 0.5) / 0.25), 1)


def times(net, x, least_seconds, least):
    net(x), net(x)  # the first ones allocate and compile
    seconds, start = [], time.perf_counter()
    while len(seconds) < least or time.perf_counter() - start < least_seconds:
        begin = time.perf_counter()
        net(x)
        seconds.append(time.perf_counter() - begin)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--arch", default="wrn-28-10", help="lenet, resnet-D or wrn-D-K")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each, at least")
    parser.add_argument("--optimise", action="store_true")
    opt = parser.parse_args()
    torch.set_num_threads(opt.threads)
    torch.manual_seed(1)
    net, shape = network(opt.arch)
    replace(net)
    whole = Whole(net).eval()
    x = torch.randint(0, 256, (opt.batch, *shape), dtype=torch.uint8)
    with torch.inference_mode():
        if opt.optimise:
            whole = torch.jit.optimize_for_inference(torch.jit.trace(whole, x))
        assert whole(x).shape == (opt.batch, CLASSES)
        batch = times(whole, x, opt.seconds, opt.repeat)
        single = times(whole, x[:1], opt.seconds, 15)
    print(json.dumps({
        "arch": opt.arch, "density": 1.0, "members": 1, "batch": opt.batch,
        "threads": opt.threads, "images_per_second": round(opt.batch / min(batch), 1),
        "latency_ms": round(1e3 * statistics.median(single), 4),
        "latency_p99_ms": round(1e3 * sorted(single)[-1 - len(single) // 100], 4),
        "peer": "torch-frozen" if opt.optimise else "torch-dense"}))


if __name__ == "__main__":
    main()
