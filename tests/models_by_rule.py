"""Small models, one for each rule of the conversion, with data and the number of neurons that the rule leaves (by hand)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

ALMOST_ZERO = 1e-14  # BatchNorm refuses ε = 0 in training mode


class Model(nn.Module):
    """Layers by name and a forward pass as a function of them and the input."""

    def __init__(self, run: Callable[[Any, torch.Tensor], torch.Tensor], **layers: nn.Module | nn.Parameter) -> None:
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.run = run
        self.register_buffer("chosen", torch.tensor([4, 0, 2]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(self, x)


def chain(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(*layers)


def skip(m: Any, x: torch.Tensor) -> torch.Tensor:
    s = m.embed(x)
    for k in range(2):
        s = s + getattr(m, f"out{k}")(F.relu(getattr(m, f"in{k}")(s)))
    return m.head(s)


def stream(run: Callable[[Any, torch.Tensor], torch.Tensor] = skip, embed: nn.Module | None = None) -> Model:
    layers: dict[str, nn.Module] = {"embed": embed or nn.Linear(3, 5), "head": nn.Linear(3 if embed else 5, 4)}
    width = 3 if embed else 5
    for k in range(2):
        layers |= {f"in{k}": nn.Linear(width, 7), f"out{k}": nn.Linear(7, width)}
    return Model(run, **layers)


def randomized(norm: nn.Module) -> nn.Module:
    """Give gain, bias and statistics values in general position."""
    with torch.no_grad():
        for parameter in norm.parameters():
            parameter.normal_()
        for name, buffer in norm.named_buffers():
            if name == "running_mean":
                buffer.normal_()
            elif name == "running_var":
                buffer.uniform_(0.5, 2)
    return norm


def fixed(layer: nn.Module) -> nn.Module:
    return layer.requires_grad_(False)


def attention(m: Any, x: torch.Tensor) -> torch.Tensor:
    scores = torch.softmax(m.q(x) @ m.k(x).transpose(1, 2) / 2, -1)
    return m.o(scores @ m.v(x))


def gated(gate: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Any, torch.Tensor], torch.Tensor]:
    return lambda m, x: m.out(gate(m.gate(x)) * m.up(x))


def glu(gate: Callable[[torch.Tensor], torch.Tensor]) -> Model:
    return Model(gated(gate), gate=nn.Linear(3, 7), up=nn.Linear(3, 7), out=nn.Linear(7, 4))


def vectors() -> torch.Tensor:
    return torch.randn(12, 3)


def images() -> torch.Tensor:
    return torch.randn(6, 3, 8, 8)


def sequences() -> torch.Tensor:
    return torch.randn(4, 6, 3)


CASES: dict[str, tuple[Callable[[], nn.Module], Callable[[], torch.Tensor], int]] = {
    "R1 linear": (lambda: chain(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 4)), vectors, 5),
    "R1 matrix without a layer": (
        lambda: Model(
            lambda m, x: F.relu(x @ m.a) @ m.b, a=nn.Parameter(torch.randn(3, 5)), b=nn.Parameter(torch.randn(5, 2))
        ),
        vectors,
        5,
    ),
    "R1 convolutions": (
        lambda: chain(
            nn.Conv2d(3, 5, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(5, 6, 3, stride=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(54, 2),
        ),
        images,
        11,
    ),
    "R1 grouped": (
        lambda: chain(
            nn.Conv2d(3, 6, 3, groups=3), nn.ReLU(), nn.Conv2d(6, 4, 3, groups=2), nn.ReLU(), nn.Conv2d(4, 2, 1)
        ),
        images,
        10,
    ),
    "R1 depthwise": (
        lambda: chain(nn.Conv2d(3, 6, 1), nn.ReLU(), nn.Conv2d(6, 6, 3, groups=6), nn.ReLU(), nn.Conv2d(6, 2, 1)),
        images,
        12,
    ),
    "R1 transposed": (
        lambda: chain(
            nn.Conv2d(3, 4, 3), nn.ReLU(), nn.ConvTranspose2d(4, 6, 3, 2, groups=2), nn.ReLU(), nn.Conv2d(6, 2, 1)
        ),
        images,
        10,
    ),
    "R1 dilated in one dimension": (
        lambda: Model(
            lambda m, x: m.b(F.relu(m.a(x.flatten(2)))), a=nn.Conv1d(3, 5, 3, dilation=2), b=nn.Conv1d(5, 2, 1)
        ),
        images,
        5,
    ),
    "R3 homogeneous": (
        lambda: chain(
            nn.Linear(3, 5), nn.LeakyReLU(0.2), nn.Linear(5, 5), nn.PReLU(5), nn.Dropout(0.3), nn.Linear(5, 4)
        ),
        vectors,
        10,
    ),
    "R3 absolute value and clamp": (
        lambda: Model(
            lambda m, x: m.c(m.b(m.a(x).abs()).clamp(min=0)), a=nn.Linear(3, 5), b=nn.Linear(5, 4), c=nn.Linear(4, 1)
        ),
        vectors,
        9,
    ),
    "R3 pooling": (
        lambda: chain(
            *(nn.Conv2d(3, 5, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(5, 6, 3, padding=1), nn.ReLU()),
            *(nn.AvgPool2d(3, 1, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4)),
        ),
        images,
        11,
    ),
    "R3 padding, resizing, shuffling": (
        lambda: Model(
            lambda m, x: m.b(F.pixel_shuffle(F.interpolate(F.pad(F.relu(m.a(x)), (1, 2, 0, 1)), scale_factor=2), 2)),
            a=nn.Conv2d(3, 8, 3),
            b=nn.Conv2d(2, 2, 1),
        ),
        images,
        # A shuffled channel mixes four channels, which then feed one kernel.
        2,
    ),
    "concatenation, halves, maximum": (
        lambda: Model(
            lambda m, x: m.c(torch.maximum(*torch.cat([F.relu(m.a(x)), F.relu(m.b(x))], 1).chunk(2, 1))),
            a=nn.Linear(3, 5),
            b=nn.Linear(3, 7),
            c=nn.Linear(6, 2),
        ),
        vectors,
        6,
    ),
    "R4 fixed layer": (
        lambda: chain(nn.Linear(3, 5), nn.ReLU(), fixed(nn.Linear(5, 6, bias=False)), nn.ReLU(), nn.Linear(6, 2)),
        vectors,
        1,
    ),
    "R4 fixed bias": (
        lambda: chain(fixed(nn.Linear(3, 5)), nn.ReLU(), nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 2)),
        vectors,
        6,
    ),
    "R4 stream": (stream, vectors, 5 + 7 + 7),
    "R4 stream after activations": (
        lambda: stream(lambda m, x: m.head(F.relu(F.relu(s := F.relu(m.embed(x))) + m.out0(F.relu(m.in0(s)))))),
        vectors,
        5 + 7,
    ),
    "R4 skip from the raw input": (lambda: stream(embed=nn.Identity()), vectors, 7 + 7),
    "R5 activation without a law": (
        lambda: chain(nn.Linear(3, 5), nn.GELU(), nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 2)),
        vectors,
        6,
    ),
    "R5 gated by SiLU": (lambda: glu(F.silu), vectors, 7),
    "R5 gated by ReLU": (lambda: glu(F.relu), vectors, 7),
    "R6 batch norm": (
        lambda: chain(
            nn.Conv2d(3, 5, 3), randomized(nn.BatchNorm2d(5, eps=ALMOST_ZERO)), nn.ReLU(), nn.Conv2d(5, 4, 3)
        ),
        images,
        10,
    ),
    "R6 batch norm, evaluated": (
        lambda: chain(nn.Conv2d(3, 5, 3), randomized(nn.BatchNorm2d(5)), nn.ReLU(), nn.Conv2d(5, 4, 3)).eval(),
        images,
        5,
    ),
    "R6 batch norm, evaluated around zero": (
        lambda: chain(nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5), nn.ReLU(), nn.Conv2d(5, 4, 3)).eval(),
        images,
        10,
    ),
    "R6 group norm": (
        lambda: chain(nn.Conv2d(3, 6, 3), randomized(nn.GroupNorm(2, 6, eps=0.0)), nn.ReLU(), nn.Conv2d(6, 4, 3)),
        images,
        2 + 6,
    ),
    "R6 instance norm": (
        lambda: chain(
            nn.Conv2d(3, 6, 3),
            randomized(nn.InstanceNorm2d(6, eps=ALMOST_ZERO, affine=True)),
            nn.ReLU(),
            nn.Conv2d(6, 4, 3),
        ),
        images,
        6 + 6,
    ),
    "R6' layer norm": (
        lambda: chain(
            nn.Linear(3, 5), randomized(nn.LayerNorm(5, eps=0.0)), nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 4)
        ),
        vectors,
        1 + 5 + 7,
    ),
    "R6' root mean square": (
        lambda: chain(nn.Linear(3, 5), randomized(nn.RMSNorm(5, eps=0.0)), nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 4)),
        vectors,
        1 + 5 + 7,
    ),
    "R7 attention": (
        lambda: Model(
            attention,
            **{name: nn.Linear(*size) for name, size in {"q": (3, 4), "k": (3, 4), "v": (3, 5), "o": (5, 2)}.items()},
        ),
        sequences,
        5,
    ),
    "R7 attention of torch": (
        lambda: Model(
            lambda m, x: m.a(*[m.e(x)] * 3, need_weights=False)[0],
            e=nn.Linear(3, 8),
            a=nn.MultiheadAttention(8, 2, batch_first=True),
        ),
        sequences,
        # What queries, keys and values read, and the values.
        8 + 8,
    ),
    "one layer reads two": (
        lambda: Model(
            lambda m, x: m.c(F.relu(torch.stack([m.a(x), m.b(x)], 1))),
            a=nn.Linear(3, 5),
            b=nn.Linear(3, 5),
            c=nn.Linear(5, 2),
        ),
        vectors,
        5,
    ),
    "R8 layer used twice": (
        lambda: Model(
            lambda m, x: m.c(F.relu(m.b(F.relu(m.b(F.relu(m.a(x))))))),
            a=nn.Linear(3, 5),
            b=nn.Linear(5, 5),
            c=nn.Linear(5, 2),
        ),
        vectors,
        5,
    ),
    "R8 recurrence": (
        lambda: Model(
            lambda m, x: m.o(m.r(x)[0][:, -1]),
            r=nn.RNN(3, 5, 2, nonlinearity="relu", batch_first=True),
            o=nn.Linear(5, 2),
        ),
        sequences,
        10,
    ),
    "R8 recurrence, both ways": (
        lambda: Model(
            lambda m, x: m.o(m.r(x)[0]),
            r=nn.RNN(3, 5, nonlinearity="relu", bidirectional=True, bias=False),
            o=nn.Linear(10, 2),
        ),
        sequences,
        10,
    ),
    "embedding": (
        lambda: Model(lambda m, x: m.o(F.relu(m.e((x[..., 0] > 0).long()))), e=nn.Embedding(2, 5), o=nn.Linear(5, 2)),
        sequences,
        5,
    ),
    "positions and class token": (
        lambda: Model(
            lambda m, x: m.o(F.relu(torch.cat([m.c.expand(x.shape[0], 1, 5), m.e(x)], 1) + m.p).mean(1)),
            e=nn.Linear(3, 5),
            c=nn.Parameter(torch.randn(1, 1, 5)),
            p=nn.Parameter(torch.randn(1, 7, 5)),
            o=nn.Linear(5, 2),
        ),
        sequences,
        5,
    ),
    "written in place through a view": (
        lambda: Model(
            lambda m, x: m.b(in_place(m.a(x), m.g)),
            a=nn.Linear(3, 5),
            g=nn.Parameter(torch.randn(1)),
            b=nn.Linear(5, 2),
        ),
        vectors,
        # The entry that is overwritten is a neuron of its own.
        5 + 1,
    ),
    "clipped on both sides": (
        lambda: Model(
            lambda m, x: m.c(F.relu(m.b(m.a(x).clamp(0, 0.1)))), a=nn.Linear(3, 5), b=nn.Linear(5, 6), c=nn.Linear(6, 2)
        ),
        vectors,
        6,
    ),
    "divided by what is computed": (
        lambda: Model(lambda m, x: m.c(m.a(x) / m.b(x).abs()), a=nn.Linear(3, 5), b=nn.Linear(3, 5), c=nn.Linear(5, 2)),
        vectors,
        5,
    ),
    "a rectifier by hand": (
        lambda: Model(lambda m, x: m.b((h := m.a(x)) * (h > 0)), a=nn.Linear(3, 5), b=nn.Linear(5, 2)),
        vectors,
        5,
    ),
    "compared with what is computed": (
        lambda: Model(
            lambda m, x: m.c(F.relu(m.b((h := m.a(x)) * (h > h.flip(1))))),
            a=nn.Linear(3, 5),
            b=nn.Linear(5, 6),
            c=nn.Linear(6, 2),
        ),
        vectors,
        6,
    ),
    "chosen entries": (
        lambda: Model(lambda m, x: m.b(F.relu(m.a(x))[:, m.chosen]), a=nn.Linear(3, 5), b=nn.Linear(3, 2)),
        vectors,
        # Which ones are chosen is not looked at.
        1,
    ),
    "detached": (
        lambda: Model(
            lambda m, x: m.c(F.relu(m.b(F.relu(m.a(x)).detach())) + m.d(F.relu(m.a(x)))),
            **{k: nn.Linear(*v) for k, v in {"a": (3, 5), "b": (5, 4), "c": (4, 2), "d": (5, 4)}.items()},
        ),
        vectors,
        # The second layer reads data, as it were; what is added to its output joins it.
        5 + 4,
    ),
}


def in_place(h: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    h = h.abs()
    h[:, 0].mul_(gain)
    return h


def made(name: str) -> tuple[nn.Module, torch.Tensor]:
    make, data, _ = CASES[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return make().double(), data().double()
