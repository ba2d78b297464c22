"""Expected numbers of conservation laws, computed once with other programs."""

from __future__ import annotations

# Widths from the output to the input: D, laws, laws by the span of the gradients alone.
LINEAR = {
    (5, 3, 2): (21, 6, 11),
    (5, 5, 4, 4, 5): (81, 35, 57),
    (3, 4, 2, 4): (28, 13, 18),
    (2, 5, 4, 3): (42, 25, 36),
    (5, 4, 2, 3): (34, 13, 22),
    (3, 3, 2): (15, 6, 9),
    (5, 4, 3): (32, 10, 17),
    (4, 4, 4, 4): (48, 20, 32),
    (5, 4, 4, 4, 3): (64, 30, 49),
    (3, 5, 4): (35, 15, 23),
    (4, 2, 4): (16, 3, 4),
    (2, 2, 2): (8, 3, 4),
    (3, 3, 5, 3, 3): (48, 27, 39),
    (4, 4, 2, 2): (28, 13, 20),
    (5, 5, 5, 2): (60, 30, 50),
    (2, 4, 3): (20, 10, 14),
    (4, 2, 3): (14, 3, 4),
    (3, 4, 3, 4): (36, 16, 24),
    (5, 5, 3): (40, 15, 25),
    (5, 4, 5, 5): (65, 25, 41),
    (3, 2, 5, 3, 3): (40, 24, 32),
    (3, 2, 2): (10, 3, 4),
    (3, 4, 4, 4): (44, 20, 32),
    (1, 1, 1): (2, 1, 1),
    (1, 3, 1): (6, 5, 5),
    (2, 1, 3): (5, 1, 1),
    (3, 2, 4): (14, 3, 4),
    (2, 5, 2): (20, 14, 16),
    (1, 4, 2): (12, 9, 10),
    (2, 7, 3): (35, 25, 29),
    (4, 5, 3): (35, 15, 23),
    (2, 2, 2, 2): (12, 6, 8),
    (2, 5, 3, 4, 2): (45, 31, 41),
}

# D and laws only.
DEEP_LINEAR = {
    (1, 4, 1): (8, 7),
    (8, 8, 8): (128, 36),
    (2, 9, 2, 2): (40, 33),
    (1, 3, 3, 2): (18, 12),
    (1, 2, 5, 2): (22, 17),
    (2, 3, 1, 3, 2): (18, 13),
    (1, 2, 2, 1): (8, 7),
    (1, 3, 4, 1): (19, 18),
    (1, 2, 5, 2, 1): (24, 23),
    (1, 6, 6, 1): (48, 47),
    (1, 5, 1, 1): (11, 10),
}

# Widths, biases: D and laws; the span of the gradients alone gives the same.
RELU = {
    ((9, 7, 2), False): (77, 7),
    ((8, 5, 8, 5, 5), False): (145, 18),
    ((8, 8, 6, 6, 4), False): (172, 20),
    ((8, 6, 8), False): (96, 6),
    ((2, 4, 5, 8, 5), True): (125, 17),
    ((8, 5, 9, 8), True): (171, 14),
    ((4, 6, 7), False): (66, 6),
    ((7, 3, 4, 5), True): (60, 7),
    ((7, 2, 6), True): (28, 2),
    ((7, 9, 9, 7, 3), False): (228, 25),
    ((9, 8, 5, 4, 7), False): (160, 17),
    ((7, 3, 4, 5), False): (53, 7),
    ((8, 7, 3, 6), False): (95, 10),
    ((6, 4, 2, 3, 6), False): (56, 9),
    ((2, 6, 3, 7, 2), False): (65, 16),
    ((9, 7, 3, 9, 4), False): (147, 19),
    ((3, 5, 3), True): (35, 5),
    ((3, 7, 9, 3, 3), True): (139, 19),
    ((5, 3, 3, 4), True): (42, 6),
    ((2, 3, 6, 8), False): (72, 9),
    ((7, 2, 6, 6), True): (70, 8),
    ((9, 3, 5, 9, 9), False): (168, 17),
    ((9, 4, 7), False): (64, 4),
    ((9, 9, 8, 8, 8), True): (306, 25),
    ((9, 9, 3, 2), False): (114, 12),
}

# Architecture and sizes: D, laws by the span alone, laws.
OTHERS = {
    ("attention", (1, 2)): (8, 2, 2),
    ("attention", (2, 2)): (16, 8, 6),
    ("attention", (2, 3)): (24, 8, 6),
    ("attention", (3, 2)): (24, 16, 12),
    ("attention", (5, 2)): (40, 32, 28),
    ("attention", (3, 4)): (48, 18, 12),
    ("attention", (2, 2, 2)): (16, 4, 4),
    ("lightning", (2, 1, 1)): (6, 2, 2),
    ("lightning", (3, 1, 1)): (9, 2, 2),
    ("lightning", (4, 1, 1)): (12, 2, 2),
    ("lightning", (3, 2, 2)): (18, 5, 4),
    ("lightning", (4, 2, 2)): (24, 5, 4),
    ("lightning", (2, 3, 2)): (16, 9, 7),
    ("lightning", (3, 3, 3)): (27, 10, 7),
    ("softmax-layer", (2, 3)): (6, 3, 3),
    ("softmax-layer", (4, 3)): (12, 3, 3),
    ("softmax-layer", (10, 5)): (50, 5, 5),
    ("convolution", (1, 1, 1, 3, 3)): (6, 1, 1),
    ("convolution", (2, 3, 2, 3, 3)): (36, 3, 3),
    ("convolution", (3, 4, 1, 2, 5)): (68, 4, 4),
    ("product", (2,)): (2, 1, 1),
    ("product", (3,)): (3, 2, 2),
    ("product", (5,)): (5, 4, 4),
    ("swiglu", (2, 3, 2)): (18, 3, 3),
    ("rope", (2, 2)): (16, 6, 4),
    ("rope", (2, 3)): (24, 6, 4),
    ("rope", (4, 2)): (32, 16, 12),
    ("gated-experts", (1, 3, 2)): (12, 2, 2),
    ("residual", (2, 1, 1)): (8, 2, 2),
    ("residual", (2, 2, 2)): (16, 4, 4),
}

# Widths of linear nets on logits: D, laws by the span alone, laws.
LOGITS = {
    (3, 1, 2): (5, 2, 2),
    (3, 2, 2): (10, 6, 5),
    (4, 2, 3): (14, 6, 5),
    (4, 3, 3): (21, 12, 9),
    (3, 5, 2): (25, 21, 19),
}

# Widths: laws of gradient flow, and with momentum.
MOMENTUM = {
    (1, 1, 1): (1, 0),
    (2, 1, 2): (1, 0),
    (2, 2, 2): (3, 1),
    (3, 2, 3): (3, 1),
    (2, 3, 2): (6, 3),
    (1, 3, 2): (6, 3),
    (1, 2, 1): (3, 2),
    (1, 3, 1): (5, 6),
}
MOMENTUM_SLOW = {(2, 4, 1): (9, 6), (1, 4, 1): (7, 10)}

MIRROR = {(2, 1, 2): 1, (2, 2, 2): 2, (3, 2, 4): 2, (2, 3, 3): 3}


def group(name: str, copies: int = 1, trivial: int = 0, natural_labels: bool = False) -> dict[str, object]:
    """The fields of a group."""
    return {"name": name, "copies": copies, "trivial": trivial, "natural_labels": natural_labels}


# Architecture, sizes, group, output map: plain laws and laws of the averaged squared loss.
AVERAGED = [
    ("linear", (1, 1, 3), group("C3"), False, 1, 2),
    ("linear", (1, 2, 3), group("C3"), False, 3, 3),
    ("linear", (1, 2, 4), group("S4"), False, 3, 5),
    ("linear", (1, 2, 5), group("S5"), False, 3, 7),
    ("linear", (2, 2, 5), group("S5"), False, 3, 7),
    ("linear", (1, 1, 8), group("S4", 2), False, 1, 3),
    ("linear", (1, 1, 7), group("Heis3", 1, 1), False, 1, 6),
    ("linear", (1, 2, 7), group("Heis3", 1, 1), False, 3, 11),
    ("linear", (1, 1, 13), group("Heis3", 2, 1), False, 1, 6),
    ("linear", (1, 1, 9), group("extraspecial32", 1, 1), False, 1, 8),
    ("linear", (1, 1, 17), group("extraspecial32", 2, 1), False, 1, 1),
    ("linear", (1, 2, 4), group("O(4)"), False, 3, 9),
    ("power", (2, 1, 2), group("rotation(3)"), False, 1, 2),
    ("power", (2, 2, 2), group("rotation(3)"), False, 2, 2),
    ("power", (2, 1, 2), group("rotation(4)"), False, 1, 1),
    ("power", (2, 1, 3), group("O(3)"), False, 1, 3),
    ("power", (2, 2, 3), group("O(3)"), False, 2, 4),
    ("power", (2, 2, 4), group("O(4)"), False, 2, 6),
    ("power", (2, 1, 3), group("octahedral"), False, 1, 2),
    ("power", (2, 2, 3), group("octahedral"), False, 2, 2),
    ("lightning", (2, 1, 1), group("O(2)"), False, 2, 2),
    ("lightning", (3, 1, 1), group("O(3)"), False, 2, 2),
    ("lightning", (4, 1, 1), group("SO(4)"), False, 2, 5),
    ("lightning", (4, 1, 1), group("O(4)"), False, 2, 5),
    ("lightning", (3, 1, 1), group("O(3)"), True, 3, 3),
]
AVERAGED_SLOW = [
    ("power", (2, 1, 3), group("icosahedral"), False, 1, 3),
    ("power", (2, 2, 3), group("icosahedral"), False, 2, 4),
    ("lightning", (5, 1, 1), group("O(5)"), True, 3, 7),
]

# q, number of inputs, group: laws of f = Wx.
LINEAR_MODEL = [
    *((q, 3, group("C3"), laws) for q, laws in ((1, 1), (2, 3), (3, 5))),
    *((q, 6, group("C3", 2), laws) for q, laws in ((1, 0), (2, 1), (3, 5))),
    *((q, 9, group("C3", 3), laws) for q, laws in ((1, 0), (2, 0), (3, 1))),
    *((q, 4, group("S4"), laws) for q, laws in ((1, 2), (2, 5))),
    *((q, 8, group("S4", 2), laws) for q, laws in ((1, 2), (2, 8))),
    *((q, 4, group("Q8"), laws) for q, laws in ((1, 3), (2, 7), (3, 11))),
    *((q, 8, group("Q8", 2), laws) for q, laws in ((1, 0), (2, 0), (3, 8))),
    *((q, 12, group("Q8", 3), laws) for q, laws in ((1, 0), (2, 0), (3, 0))),
    (1, 3, group("S3"), 1),
    (1, 5, group("C5"), 2),
    (1, 5, group("S5"), 3),
    (3, 3, group("C3", natural_labels=True), 4),
    (3, 6, group("C3", 2, natural_labels=True), 1),
    (4, 8, group("S4", 2, natural_labels=True), 20),
    (3, 6, group("S3", 2, natural_labels=True), 6),
    (4, 8, group("Q8", 2, natural_labels=True), 8),
]

# Group, fields of its action, labels: dimensions of End, Sym, Hom, Lie(H) and blocks (m, n, factor).
LIFT = [
    ("C3", {}, (3, 2, 1, 1), [(1, 2, "O(2)"), (1, 1, "1")]),
    ("C3", {"natural_labels": True}, (3, 2, 3, 0), [(1, 2, "1"), (1, 1, "1")]),
    ("C3", {"copies": 2}, (12, 7, 2, 1), [(2, 2, "U(1)"), (2, 1, "1")]),
    ("S4", {}, (2, 2, 1, 3), [(1, 3, "O(3)"), (1, 1, "1")]),
    ("S4", {"copies": 3}, (18, 12, 3, 3), [(3, 3, "O(3)"), (3, 1, "1")]),
    ("Q8", {}, (4, 1, 0, 6), [(1, 4, "O(4)")]),
    ("Q8", {"copies": 2}, (16, 6, 0, 3), [(2, 4, "Sp(1)")]),
    ("Q8", {"copies": 3}, (36, 15, 0, 3), [(3, 4, "Sp(1)")]),
    ("Heis3", {}, (2, 1, 0, 15), [(1, 6, "O(6)")]),
    ("Heis3", {"copies": 2}, (8, 4, 0, 9), [(2, 6, "U(3)")]),
    ("O(3)", {"tensor": 2}, (3, 3, 1, 13), [(1, 5, "O(5)"), (1, 3, "O(3)"), (1, 1, "1")]),
    ("icosahedral", {"tensor": 2}, (3, 3, 1, 13), [(1, 5, "O(5)"), (1, 3, "O(3)"), (1, 1, "1")]),
    ("octahedral", {"tensor": 2}, (4, 4, 1, 7), [(1, 3, "O(3)"), (1, 3, "O(3)"), (1, 2, "O(2)"), (1, 1, "1")]),
]
LIFT_LARGE = [
    ("O(3)", {"tensor": 3}, (15, 11, 0, 34), [(1, 7, "O(7)"), (2, 5, "O(5)"), (3, 3, "O(3)"), (1, 1, "O(1)")]),
    (
        "O(3)",
        {"tensor": 3, "natural_labels": True},
        (15, 11, 3, 31),
        [(1, 7, "O(7)"), (2, 5, "O(5)"), (3, 3, "1"), (1, 1, "O(1)")],
    ),
]
