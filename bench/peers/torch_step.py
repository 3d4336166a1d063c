#!/usr/bin/env python3
"""One training step of the method in PyTorch, with dense tensors and 0/1 masks.

The peer of `bench step`: what the same mathematics costs when sparsity is simulated. Every
layer computes two dense products, mean and variance, draws its noise, and the loss is
cross-entropy plus KL/N; then backward and SGD with momentum. --dense times the plain
deterministic network instead: cross-entropy, backward, SGD with momentum and weight decay, as
torch.nn has it. --layout nhwc puts channels last, which some processors prefer; whoever
compares takes the better of both. Prints one JSON object; ms_per_image is that of the best
step, peak_bytes the process's peak resident set, base_bytes what PyTorch took of it before
there was a network.
"""
import argparse
import json
import resource
import time

import torch
import torch.nn.functional as F
from torch import nn

PRIOR_STD, N_TRAIN, CLASSES = 0.2, 45000, 10


class Weights(nn.Module):
    """The weights of one convolution (stride given) or linear layer (stride 0)."""

    def __init__(self, n_in, n_out, kernel=1, stride=0, padding=0):
        super().__init__()
        shape = (n_out, n_in, kernel, kernel) if stride else (n_out, n_in)
        self.stride, self.padding = stride, padding
        self.mu = nn.Parameter(nn.init.kaiming_uniform_(torch.empty(shape)))
        self.bias = None if stride else nn.Parameter(torch.zeros(n_out))
        self.rho = self.mask = None

    def product(self, x, weight, bias=None):
        if self.stride:
            return F.conv2d(x, weight, bias, self.stride, self.padding)
        return F.linear(x, weight, bias)

    def make_bayesian(self, density):
        self.rho = nn.Parameter(torch.full_like(self.mu, -6.0))
        self.mask = (torch.rand_like(self.mu) < density).float()

    def forward(self, x):
        if self.mask is None:
            return self.product(x, self.mu, self.bias)
        mean = self.product(x, self.mu * self.mask, self.bias)
        variance = self.product(x * x, F.softplus(self.rho) ** 2 * self.mask)
        return mean + torch.sqrt(variance + 1e-8) * torch.randn_like(mean)

    def kl(self):
        sigma = F.softplus(self.rho)
        each = (torch.log(PRIOR_STD / sigma) - 0.5
                + (sigma ** 2 + self.mu ** 2) / (2 * PRIOR_STD ** 2))
        return (each * self.mask).sum()


class Residual(nn.Module):
    """f(x) + shortcut(x); pre: shared normalisation and ReLU before both of them."""

    def __init__(self, body, shortcut, pre=None, post=None):
        super().__init__()
        self.body, self.shortcut, self.pre, self.post = body, shortcut, pre, post

    def forward(self, x):
        a = self.pre(x) if self.pre else x
        y = self.body(a) + (self.shortcut(a) if self.shortcut else x)
        return self.post(y) if self.post else y


def norm_relu(channels):
    return nn.Sequential(nn.BatchNorm2d(channels), nn.ReLU())


def wrn_block(a, b, stride):
    body = nn.Sequential(Weights(a, b, 3, stride, 1), norm_relu(b), Weights(b, b, 3, 1, 1))
    return Residual(body, Weights(a, b, 1, stride) if a != b else None, pre=norm_relu(a))


def resnet_block(a, b, stride):
    body = nn.Sequential(Weights(a, b, 3, stride, 1), norm_relu(b),
                         Weights(b, b, 3, 1, 1), nn.BatchNorm2d(b))
    change = nn.Sequential(Weights(a, b, 1, stride), nn.BatchNorm2d(b)) if a != b else None
    return Residual(body, change, post=nn.ReLU())


def residual_net(block, count, widths):
    """The stem's convolution, three groups of blocks, global average; no head yet."""
    layers = [Weights(3, widths[0], 3, 1, 1)]
    for group, (a, b) in enumerate(zip(widths, widths[1:])):
        stride = 1 if group == 0 else 2
        layers += [block(a, b, stride), *(block(b, b, 1) for _ in range(count - 1))]
    return layers


def network(arch):
    """Layers of the named architecture, and the shape of its input."""
    kind, *numbers = arch.split("-")
    mean = [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    if kind == "mlp":
        widths = [784, *map(int, numbers), CLASSES]
        layers = [nn.Flatten()]
        for a, b in zip(widths, widths[1:]):
            layers += [Weights(a, b), nn.ReLU()]
        return nn.Sequential(*layers[:-1]), (1, 28, 28)
    if kind == "lenet":
        return nn.Sequential(
            Weights(1, 20, 5, 1), norm_relu(20), nn.MaxPool2d(2),
            Weights(20, 50, 5, 1), norm_relu(50), nn.MaxPool2d(2), nn.Flatten(),
            Weights(800, 500), nn.ReLU(), Weights(500, CLASSES)), (1, 28, 28)
    if kind == "wrn":
        depth, k = map(int, numbers)
        layers = residual_net(wrn_block, (depth - 4) // 6, [16, 16 * k, 32 * k, 64 * k])
        layers += [norm_relu(64 * k), *mean, Weights(64 * k, CLASSES)]
    elif kind == "resnet":
        layers = residual_net(resnet_block, (int(numbers[0]) - 2) // 6, [16, 16, 32, 64])
        layers[1:1] = [norm_relu(16)]
        layers += [*mean, Weights(64, CLASSES)]
    else:
        raise SystemExit(f"torch_step: unknown architecture {arch}; "
                         "have mlp-H1-H2..., lenet, resnet-D, wrn-D-K")
    return nn.Sequential(*layers), (3, 32, 32)


def erk(shapes, density):
    """Density of each layer: proportional to sum(shape) / product(shape), at most 1."""
    sizes = [float(torch.tensor(s).prod()) for s in shapes]
    dense = set()
    while True:
        free = [i for i in range(len(shapes)) if i not in dense]
        left = density * sum(sizes) - sum(sizes[i] for i in dense)
        scale = left / sum(sum(shapes[i]) for i in free)
        over = {i for i in free if scale * sum(shapes[i]) > sizes[i]}
        if not over:
            return [1.0 if i in dense else scale * sum(s) / n
                    for i, (s, n) in enumerate(zip(shapes, sizes))]
        dense |= over


def optimiser(net):
    rho = [p for n, p in net.named_parameters() if n.endswith("rho")]
    rest = [p for n, p in net.named_parameters() if not n.endswith("rho")]
    groups = [{"params": rest, "weight_decay": 5e-4}]
    if rho:
        groups.append({"params": rho, "lr": 0.01})
    return torch.optim.SGD(groups, lr=0.1, momentum=0.9)


def step(net, layers, sgd, x, label):
    loss = F.cross_entropy(net(x), label)
    if layers[0].rho is not None:
        loss = loss + sum(layer.kl() for layer in layers) / N_TRAIN
    sgd.zero_grad(set_to_none=True)
    loss.backward()
    sgd.step()
    return loss.item()


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--arch", default="wrn-28-10", help="mlp-H1-H2..., lenet, resnet-D, wrn-D-K")
    parser.add_argument("--density", type=float, default=0.1)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3, help="the best of these counts")
    parser.add_argument("--dense", action="store_true", help="deterministic, no masks")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nchw")
    opt = parser.parse_args()
    torch.set_num_threads(opt.threads)
    torch.manual_seed(1)
    base = peak_bytes()

    net, shape = network(opt.arch)
    layers = [m for m in net.modules() if isinstance(m, Weights)]
    if not opt.dense:
        densities = erk([tuple(layer.mu.shape) for layer in layers], opt.density)
        for layer, density in zip(layers, densities):
            layer.make_bayesian(density)
    sgd = optimiser(net)
    x, label = torch.randn(opt.batch, *shape), torch.randint(CLASSES, (opt.batch,))
    if opt.layout == "nhwc":
        net, x = (a.to(memory_format=torch.channels_last) for a in (net, x))
    seconds = []
    for _ in range(opt.steps + 1):  # the first one allocates
        start = time.perf_counter()
        step(net, layers, sgd, x, label)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({
        "arch": opt.arch, "density": 1.0 if opt.dense else opt.density,
        "batch": opt.batch, "threads": opt.threads, "layout": opt.layout,
        "ms_per_image": round(min(seconds[1:]) * 1e3 / opt.batch, 3),
        "peak_bytes": peak_bytes(), "base_bytes": base,
        "peer": "torch-dense" if opt.dense else "torch-masked"}))


if __name__ == "__main__":
    main()
