"""Hostile files: valid ones of every format that is read, damaged and poisoned, drawn from a source of randomness.

`hostile_file` takes a `random.Random`, so that a case is reproduced by its number, and Hypothesis can draw and shrink it.
"""

from __future__ import annotations

import io
import json
import pickle
import random
import re
import struct
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

INSTANCES = Path(__file__).parents[1] / "instances"
CANARY = "canary"  # the file that code hidden in data would write, in the folder above that of the case
SECRET = "secret"  # a folder above that of the case, which no file may lead to


@dataclass(frozen=True)
class Hostile:
    """The content of a file, the suffix that it is stored under and the reader that it is meant for."""

    reader: str
    suffix: str
    content: bytes


class Poison:
    """Pickled, it is a call that whoever unpickles it makes."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.call


@cache
def pickles() -> tuple[bytes, ...]:
    """Return pickles that run code or name what they must not."""
    import os

    poisons = [
        Poison(exec, f"open('../{CANARY}', 'w').close()"),
        Poison(eval, f"open('../{CANARY}', 'w').close()"),
        Poison(os.system, f"touch ../{CANARY}"),
        Poison(Path.touch, Path("..", CANARY)),
    ]
    protocols = [pickle.dumps({"F": poison}, protocol) for poison in poisons for protocol in (0, 2, 4)]
    return (*protocols, b"\x80\x02ctorch\nload\n.", b"cos\nsystem\n(S'touch ../canary'\ntR.", b"(" * 2000, b"")


# Valid files -----------------------------------------------------------------------------------------------------------

EDGES = [["x", "a"], ["x", "v"], ["a", "v"], ["a", "v"], ["v", "y"]]
EDGE_LISTS: list[dict[str, Any]] = [
    {"edges": EDGES, "inputs": ["x"], "outputs": ["y"], "balance": {"a": "-1/2", "v": 2}},
    {"edges": [[a, b, k - 1.5] for k, (a, b) in enumerate(EDGES)], "nodes": ["z"]},
]
NODE_LINK: dict[str, Any] = {
    "directed": True,
    "multigraph": True,
    "graph": {},
    "nodes": [
        {"id": "x", "kind": "input"},
        {"id": 1, "kind": "hidden", "balance": "1/3"},
        {"id": "y", "kind": "output"},
    ],
    "links": [{"source": "x", "target": 1, "key": 0}, {"source": 1, "target": "y", "key": 0}],
}
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="w" for="edge" attr.name="weight" attr.type="double"><default>1.5</default></key>
<graph edgedefault="directed"><node id="x"/><node id="v"/><node id="y"/>
<edge source="x" target="v"><data key="w">0.1</data></edge><edge source="v" target="y"/></graph></graphml>"""
BALANCE_TOML = 'a = -4\n"h1.0" = "1/3"\nv = 0.25\n'
MATRIX_TOML = 'theorem = "matrix"\ntitle = "t"\nexpect = "proved"\nseed = 3\n[instance]\nF = {}\nn = 2\n'


@cache
def instances() -> tuple[Path, ...]:
    """Return the small ones of the shipped instance files."""
    from lakatos.theorems import NAMES

    small = [path for path in sorted(INSTANCES.rglob("*.toml")) if path.stat().st_size < 2000]
    return tuple(path for path in small if tomllib.loads(path.read_text("utf-8"))["theorem"] in NAMES)


@cache
def instance_files() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in instances())


@cache
def results() -> tuple[bytes, ...]:
    """Return saved results: what is proved of one instance of every theorem with certificates, and a certificate file."""
    from lakatos import Network, connectivity
    from lakatos.checker import check_certificate
    from lakatos.core import Evidence, Judged, Outcome, Verdict
    from lakatos.instance import read_instance
    from lakatos.results import results_to_json

    found: dict[str, bytes] = {}
    for path in instances():
        file = read_instance(path)
        name = file.theorem.name
        if name in found or not all(hypothesis.met for hypothesis in file.theorem.hypotheses(file.instance)):
            continue
        prediction = file.theorem.predict(file.instance)
        facts = [check_certificate(file.fields, certificate.to_json()) for certificate in prediction.certificates]
        known = {quantity for part in facts for quantity in part}
        claims = tuple(Judged(claim, None, True, None) for claim in prediction.claims if claim.quantity in known)
        if claims:
            verdict = Verdict(
                name,
                Outcome.PROVED,
                Evidence.EXACT,
                claims=claims,
                certificates=prediction.certificates,
                fields=file.fields,
                instance=path.name,
                provenance={"instance_sha256": file.sha256},
            )
            found[name] = json.dumps(results_to_json([verdict])).encode()
    network = Network.from_edges(**EDGE_LISTS[0])
    document = {
        "schema": "lakatos/certificate/1",
        "network": network.to_fields(),
        "certificate": connectivity(network).certificate.to_json(),
        "claims": {"feasible": True},
    }
    return (*found.values(), json.dumps(document).encode())


def npz(arrays: dict[str, Any], **options: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays, **options)
    return stream.getvalue()


NETWORK_ARRAYS = {
    "tail": np.array([0, 1]),
    "head": np.array([1, 2]),
    "weight": np.array([0.5, -2.0]),
    "names": np.array(["x", "v", "y"]),
}


@cache
def safetensors_file() -> bytes:
    from safetensors.numpy import save

    return bytes(save({"F": np.eye(2), "weight": np.ones((1, 2), np.float32), "bias": np.zeros(1, np.float32)}))


@cache
def torch_file() -> bytes:
    import torch

    stream = io.BytesIO()
    torch.save({"F": torch.eye(2), "weight": torch.ones(1, 2), "bias": torch.zeros(1)}, stream)
    return stream.getvalue()


# Damage ----------------------------------------------------------------------------------------------------------------

TOKEN = re.compile(rb'"[^"\n]{0,80}"|[-+\w./]+|[^\w\s]')
NUMBERS = [
    b"9" * 4300,
    b"9" * 4301,
    b"1e4000",
    b"1e999999999",
    b"-1e-999999999",
    b"NaN",
    b"-Infinity",
    b"inf",
    b"nan",
    b"null",
]
NUMBERS += [
    b"true",
    b"0",
    b"1",
    b"-1",
    b"-0.0",
    b"0x10",
    b"1_000",
    b"1/0",
    b"18446744073709551616",
    b"9223372036854775808",
]
TEXTS = [b'"1/0"', b'"1e9999"', b'"0x1p3"', b'"\\ud800"', b'"\\u0000"', b'"\xd9\xa3"', b'"x"', b'"v"', b'""', b'"a b"']
TEXTS += [b'"edges"', b'"nodes"', b'"F"', b'"__class__"', b'"' + b"a" * 5000 + b'"', b"1979-05-27T07:32:00Z"]
NESTED = [b"[]", b"{}", b"[" * 30_000, b"{" * 3000, b'{"a":' * 990, b"[" * 900 + b"]" * 900, b"<a>" * 20_000]
PATHS = [b'"../secret/weights.npz"', b'"/etc/hostname"', b'"link.npz"', b'"fifo.npz"', b'"/dev/zero"', b'"."']
PATHS += [b'"../secret/instance.toml"', b'"con\\u0000.npz"', b'"http://localhost/a.npz"']
PATHS += [b'{ file = "weights.npz", key = "F" }', b'{"file": "/etc/hostname", "key": "F"}']
XML = [
    b'<!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>',
    b'<!DOCTYPE g SYSTEM "file:///etc/hostname">',
    b"&a;",
    b"]]>",
]
XML += [
    b"<?xml version='1.0' encoding='" + name + b"'?>"
    for name in (b"rot13", b"utf-7", b"big5", b"idna", b"hex", b"utf-16")
]
XML += [b'<?xml-stylesheet href="/etc/hostname"?>', b"<node/>", b"<edge/>", b"<graph/>", b"&lt;", b"<![CDATA[x]]>"]
XML += [b'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/hostname" parse="text"/>']
TOKENS = [*NUMBERS, *TEXTS, *NESTED, *PATHS, *XML, b"\xef\xbb\xbf", b"\xff\xfe", b"\x00"]


def damaged_text(draw: random.Random, content: bytes) -> bytes:
    """Return `content` with some of its tokens replaced, removed, doubled or swapped."""
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        spans = [match.span() for match in TOKEN.finditer(content[:20_000])]
        if not spans:
            return draw.choice(TOKENS)
        (a, b), (c, d) = draw.choice(spans), draw.choice(spans)
        match draw.randint(0, 6):
            case 0 | 1 | 2:
                content = content[:a] + draw.choice(TOKENS) + content[b:]
            case 3:
                content = content[:a] + content[b:]
            case 4:
                content = content[:b] + content[a:]
            case 5 | 6:
                content = content[:a] + content[c:d] + content[b:]
    return content


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all parts of JSON data."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path] * bool(path) + [place for key, value in items for place in places(value, (*path, key))]


VALUES: list[Any] = [
    "x",
    "v",
    "a",
    "h",
    "",
    "out",
    "in",
    "1/2",
    "-1",
    "0",
    "1e3",
    "\ud800",
    "é",
    "\n",
    "../secret/instance.toml",
]
VALUES += [0, 1, -1, 2, 10**30, 0.5, 1e300, True, False, None, [], {}, ["x", "v"], {"0": "1"}, "/etc/hostname"]


def damaged_data(draw: random.Random, data: Any) -> bytes:
    """Return JSON data as text, some of its parts replaced by other values or by each other, removed or doubled."""
    data = json.loads(json.dumps(data))
    for _ in range(draw.choice([1, 1, 2, 3])):
        found = places(data)
        if not found:
            break
        path, other = draw.choice(found), draw.choice(found)
        parent, source = data, data
        for key in path[:-1]:
            parent = parent[key]
        for key in other:
            source = source[key]
        match draw.randint(0, 4):
            case 0 | 1:
                parent[path[-1]] = draw.choice(VALUES)
            case 2:
                parent[path[-1]] = json.loads(json.dumps(source))
            case 3:
                del parent[path[-1]]
            case 4 if isinstance(parent, list):
                parent.append(json.loads(json.dumps(source)))
            case 4:
                parent[draw.choice(["0", "1", "\ud800", *parent])] = json.loads(json.dumps(source))
    return json.dumps(data).encode()


def damaged_bytes(draw: random.Random, content: bytes) -> bytes:
    """Return `content` with some bytes changed, removed, repeated or cut off."""
    for _ in range(draw.choice([1, 1, 2])):
        a = draw.randint(0, len(content))
        b = min(len(content), a + draw.randint(0, 16))
        match draw.randint(0, 4):
            case 0:
                content = content[:a] + bytes([draw.randint(0, 255)]) + content[a + 1 :]
            case 1:
                content = content[:a] + content[b:]
            case 2:
                content = content[:b] + content[a:]
            case 3:
                content = content[:a]
            case 4:
                content = (
                    content[:a] + struct.pack("<q", draw.choice([-1, 0, 1 << 31, (1 << 63) - 1])) + content[a + 8 :]
                )
    return content


HEADERS: list[dict[str, Any]] = [
    {"descr": descr, "fortran_order": order, "shape": shape}
    for descr in ("<f8", ">i2", "|O", "<U8", "|V8", "<M8[s]", "<c16", "|b1", "<f2", "<u8", [("a", "<f8"), ("b", "|O")])
    for order, shape in ((False, (2, 2)), (True, (4,)), (False, ()), (False, (0,)), (True, (1 << 40,)), (False, (-1,)))
]


def npy(draw: random.Random) -> bytes:
    """Return an array file whose header need not be true, some with pickles inside."""
    stream = io.BytesIO()
    try:
        np.lib.format.write_array_header_1_0(stream, draw.choice(HEADERS))
    except Exception:  # a shape that NumPy itself refuses to write
        np.lib.format.write_array_header_1_0(stream, HEADERS[0])
    return stream.getvalue() + draw.choice([*pickles(), bytes(32), bytes(8), b"\xff" * 32])


BOMB = 96 << 20


@cache
def zeros(method: int) -> bytes:
    """Return `BOMB` zeros, compressed: the raw stream of a zip member."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("z", bytes(BOMB))
        info = archive.getinfo("z")
        start = info.header_offset + 30 + len("z")
    return stream.getvalue()[start : start + info.compress_size]


def archive_of(draw: random.Random, members: dict[str, bytes]) -> bytes:
    """Return a zip archive of `members`, perhaps with sizes and flags that lie."""
    method = draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    data = stream.getvalue()
    if draw.randint(0, 2) == 0:
        directory = data.index(b"PK\x01\x02")
        # flags, method, checksum, compressed size, size, name length, disk, offset: fields of a central directory entry
        offset = draw.choice([8, 10, 16, 20, 24, 28, 34, 42])
        value = draw.choice([0, 1, 8, 12, 14, 99, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x40000000])
        width = 2 if offset in (8, 10, 28, 34) else 4
        field = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        data = data[: directory + offset] + field + data[directory + offset + width :]
    return data


def bomb(draw: random.Random, name: str) -> bytes:
    """Return an archive whose one member says it is small, and is not."""
    method = draw.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    content, size = zeros(method), draw.choice([32, 160, 4096])
    head = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 0, 0, len(content), size, len(name), 0)
    entry = b"PK\x01\x02" + struct.pack("<H", 20) + head + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name.encode()
    local = b"PK\x03\x04" + head + name.encode() + content
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
    return local + entry + end


def damaged_npz(draw: random.Random, arrays: dict[str, Any]) -> bytes:
    match draw.randint(0, 5):
        case 0 | 1:
            return damaged_bytes(draw, npz(arrays))
        case 2:
            return bomb(draw, f"{draw.choice(list(arrays))}.npy")
    members = {}
    with zipfile.ZipFile(io.BytesIO(npz(arrays))) as archive:
        for info in archive.infolist():
            content = archive.read(info)
            lie = draw.choice([lambda c: c, lambda c: damaged_bytes(draw, c), lambda c: npy(draw)])
            members[info.filename] = lie(content)
    if draw.randint(0, 3) == 0:
        members[draw.choice(["../evil.npy", "tail.npy ", "balance.npy", "a" * 300, "é.npy"])] = npy(draw)
    return archive_of(draw, members)


def damaged_torch(draw: random.Random) -> bytes:
    match draw.randint(0, 4):
        case 0:
            return damaged_bytes(draw, torch_file())
        case 1:
            return draw.choice(pickles())  # the format before torch 1.6
        case 2:
            return bomb(draw, "archive/data.pkl")
    members = {}
    with zipfile.ZipFile(io.BytesIO(torch_file())) as archive:
        for info in archive.infolist():
            content = archive.read(info)
            if info.filename.endswith("data.pkl"):
                content = draw.choice(
                    [damaged_bytes(draw, content), damaged_text(draw, content), draw.choice(pickles())]
                )
            members[info.filename] = content
    return archive_of(draw, members)


def hostile_file(draw: random.Random, reader: str) -> Hostile:
    """Return a file for `reader`, one of `READERS`."""
    damage = draw.choice([damaged_text, damaged_text, damaged_bytes])
    structured = draw.randint(0, 1) == 0
    match reader:
        case "network.json":
            network = draw.choice([*EDGE_LISTS, NODE_LINK])
            content = damaged_data(draw, network) if structured else damage(draw, json.dumps(network).encode())
            return Hostile(reader, ".json", content)
        case "network.graphml":
            return Hostile(reader, ".graphml", damage(draw, GRAPHML.encode(draw.choice(["utf-8", "utf-16"]))))
        case "network.npz":
            return Hostile(reader, ".npz", damaged_npz(draw, NETWORK_ARRAYS))
        case "balance":
            suffix = draw.choice([".toml", ".json"])
            content = BALANCE_TOML if suffix == ".toml" else json.dumps(EDGE_LISTS[0]["balance"])
            return Hostile(reader, suffix, damage(draw, content.encode()))
        case "instance":
            matrix = MATRIX_TOML.format(draw.choice(['{ file = "weights.npz", key = "F" }', "[[1, 0.5], ['1/3', -2]]"]))
            return Hostile(reader, ".toml", damage(draw, draw.choice([matrix.encode(), *instance_files()])))
        case "array":
            return draw.choice(
                [
                    lambda: Hostile(reader, ".npz", damaged_npz(draw, {"F": np.eye(2)})),
                    lambda: Hostile(reader, ".safetensors", damage(draw, safetensors_file())),
                    lambda: Hostile(reader, ".pt", damaged_torch(draw)),
                ]
            )()
        case "checkpoint":
            suffix = draw.choice([".pt", ".safetensors"])
            return Hostile(
                reader, suffix, damage(draw, safetensors_file()) if suffix == ".safetensors" else damaged_torch(draw)
            )
        case "result":
            document = draw.choice(results())
            content = damaged_data(draw, json.loads(document)) if structured else damage(draw, document)
            return Hostile(reader, ".json", content)
    raise ValueError(reader)


ARRAYS = ("network.npz", "array", "checkpoint")
READERS = ("network.json", "network.graphml", "network.npz", "balance", "instance", "array", "checkpoint", "result")
