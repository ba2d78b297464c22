"""Damage done to files: to their bytes, to the tokens of their text, to the parts of their data.

Every function takes a `random.Random`, so that a case is reproduced by its number, and Hypothesis can draw and shrink it.
"""

from __future__ import annotations

import json
import random
import re
import struct
from typing import Any

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
                parent[path[-1]] = json.loads(json.dumps(draw.choice(VALUES)))  # not the list that the next case gets
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
