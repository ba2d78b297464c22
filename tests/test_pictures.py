"""Pictures of connectivity: the layout, what is marked, the files, and what is said without matplotlib."""

from __future__ import annotations

import json
import sys
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

import lakatos
from lakatos import Connectivity, InputError, Network, connectivity
from lakatos.cli import main
from lakatos.graphs import layout as layouts
from lakatos.graphs.layered import layered_network
from lakatos.graphs.layers import layers_of
from lakatos.graphs.layout import layered_layout
from lakatos.graphs.picture import LARGEST_DRAWN, Style, picture_bytes
from lakatos.graphs.picture_nodes import scene
from lakatos.testing import balanced_dags

LOCKED = {"edges": [["x", "v"], ["z", "v"], ["v", "y"]], "balance": {"v": "-4"}}


@st.composite
def digraphs(draw: st.DrawFn, *, acyclic: bool) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(1, 9))
    pairs = [(a, b) for a in range(count) for b in range(count) if (a < b if acyclic else a != b)]
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=16)) if pairs else []
    name = draw(st.permutations(range(count)))
    return count, [(name[a], name[b]) for a, b in arcs]


@given(digraphs(acyclic=True))
def test_arcs_of_a_dag_point_to_later_columns_and_pass_every_one_between(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    count, arcs = graph
    layout = layered_layout(count, arcs)
    for (a, b), route in zip(arcs, layout.routes, strict=True):
        assert route[0].tolist() == [layout.layer[a], layout.height[a]]
        assert route[-1].tolist() == [layout.layer[b], layout.height[b]]
        assert np.diff(route[:, 0]).tolist() == [1.0] * (layout.layer[b] - layout.layer[a])
        assert len(route) > 1


@given(digraphs(acyclic=False))
def test_nodes_and_bends_of_a_column_are_apart(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, arcs = graph
    layout = layered_layout(count, arcs)
    points = [(int(k), float(y)) for k, y in zip(layout.layer, layout.height, strict=True)]
    points += [(int(k), float(y)) for route in layout.routes for k, y in route[1:-1]]
    for (k, y), (other, z) in combinations(points, 2):
        assert k != other or abs(y - z) >= 1 - 1e-9
    for (a, b), route in zip(arcs, layout.routes, strict=True):
        assert [layout.layer[a], layout.layer[b]] == [route[0][0], route[-1][0]]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8), st.data())
def test_heights_are_the_closest_that_are_apart(wish: list[float], data: st.DataObject) -> None:
    weight = np.array(data.draw(st.lists(st.sampled_from([1.0, 4.0]), min_size=len(wish), max_size=len(wish))))
    place = np.arange(len(wish))
    expected = isotonic_regression(np.array(wish) - place, weights=weight).x + place
    np.testing.assert_allclose(layouts._apart(np.array(wish), weight), expected, atol=1e-7)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(4, 7)), unique=True))
def test_crossings_are_counted(arcs: list[tuple[int, int]]) -> None:
    neighbors = [[b for a, b in arcs if a == v] + [a for a, b in arcs if b == v] for v in range(8)]
    crossing = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(arcs, 2))
    assert layouts._crossings([np.arange(4), np.arange(4, 8)], neighbors) == crossing


def test_two_crossed_pairs_are_uncrossed() -> None:
    layout = layered_layout(4, [(0, 3), (1, 2)])
    assert (layout.height[0] > layout.height[1]) == (layout.height[3] > layout.height[2])


def test_skips_bend_around_what_stands_between() -> None:
    layout = layered_layout(3, [(0, 1), (1, 2), (0, 2)])
    bend = layout.routes[2][1]
    assert bend[0] == 1
    assert abs(bend[1] - layout.height[1]) >= 1


def test_a_bias_is_drawn_before_every_layer_it_feeds() -> None:
    edges = [("x", "u"), ("u", "v"), ("v", "y"), ("bias", "u"), ("bias", "v"), ("bias", "y")]
    drawn = scene(Network.from_edges(edges))
    names = ["x", "u", "v", "y", "bias"]
    columns = sorted(int(k) for v, k in zip(drawn.node, drawn.layout.layer, strict=True) if names[v] == "bias")
    assert columns == [0, 1, 2]
    assert sorted(e for edges in drawn.bundles.values() for e in edges) == list(range(6))
    skip = scene(Network.from_edges([("x", "u"), ("u", "y"), ("x", "y")]))
    assert len(skip.node) == 3  # an input with a skip is no bias


def marked(result: Connectivity, color: str) -> int:
    """How many lines of this color the picture has."""
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch

    ax = Figure().add_subplot()
    assert result.plot(ax) is ax
    arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    return sum(to_rgb(patch.get_edgecolor()[:3]) == to_rgb(color) for patch in arrows)


@given(balanced_dags(max_hidden=5, max_edges=12))
@settings(max_examples=12, deadline=None)
def test_every_locked_weight_and_no_other_is_drawn_as_such(fields: dict[str, Any]) -> None:
    result = connectivity(Network.from_edges(**fields))
    style = Style()
    assert marked(result, style.locked) == len(result.frozen_edges)
    assert marked(result, style.regular) == len(set(result.regular_frozen_edges) - set(result.frozen_edges))


@given(balanced_dags(max_hidden=6, max_edges=14))
@settings(max_examples=60)
def test_layers_hold_every_weight_once(fields: dict[str, Any]) -> None:
    result = connectivity(Network.from_edges(**fields))
    found = layers_of(result)
    assert sum(layer.weights for layer in found.layers) == result.network.edge_count
    assert sum(layer.locked for layer in found.layers) == len(result.frozen_edges)
    assert sum(layer.locked + layer.regular for layer in found.layers) == len(
        {*result.frozen_edges, *result.regular_frozen_edges}
    )
    assert sum(layer.neurons for layer in found.layers) == len(result.network.hidden_nodes)
    assert sum(layer.neurons + layer.terminals for layer in found.layers) == result.network.node_count
    assert sum(weights for *_, weights, _ in found.links) == result.network.edge_count


def wide() -> Connectivity:
    """More neurons than are drawn one by one: 5 of 30 locked in the first layer, none in the second."""
    return connectivity(layered_network([20, 30, 20, 1], [[1] * 30, [-1] * 5 + [0] * 10 + [1] * 5]))


def test_layers_by_hand() -> None:
    found = layers_of(wide())
    assert [layer.name for layer in found.layers] == ["x", "h1", "h2", "y"]
    last = found.layers[3]
    assert (last.weights, last.locked, last.regular) == (20, 5, 10)
    assert found.links == ((0, 1, 600, 0), (1, 2, 600, 0), (2, 3, 20, 15))
    assert wide().network.node_count > LARGEST_DRAWN


def test_unnamed_layers_go_by_depth() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    found = layers_of(connectivity(Network.from_edges(edges, balance={"b": 0, "c": 0})))
    assert [(layer.name, layer.weights) for layer in found.layers] == [
        ("inputs", 0),
        ("depth 1", 1),
        ("depth 2", 1),
        ("outputs", 2),
    ]


def test_deep_networks_are_put_together_by_depth() -> None:
    chain = [(f"n{i}a", f"n{i + 1}a") for i in range(300)]
    found = layers_of(connectivity(Network.from_edges(chain, balance={f"n{i}a": 0 for i in range(1, 300)})))
    assert len(found.layers) <= 64
    assert sum(layer.weights for layer in found.layers) == 300


@pytest.mark.parametrize("make", [lambda: connectivity(Network.from_edges(**LOCKED)), wide])  # type: ignore[arg-type]
def test_files_are_complete_and_the_same_each_time(make: Any) -> None:
    svg = picture_bytes(make(), ".svg")
    assert svg == picture_bytes(make(), ".svg")
    root = ElementTree.fromstring(svg)
    links = [value for node in root.iter() for key, value in node.attrib.items() if key.endswith("href")]
    assert links
    assert all(link.startswith("#") for link in links)
    assert picture_bytes(make(), ".png").startswith(b"\x89PNG")
    assert picture_bytes(make(), ".pdf").startswith(b"%PDF")


def test_nothing_is_cut_off() -> None:
    """The border of the picture is blank on all sides."""
    import io

    from matplotlib import image

    cycle = {
        "edges": [["x", "v"], ["v", "w"], ["w", "v"], ["v", "y"]],
        "inputs": ["x"],
        "outputs": ["y"],
        "balance": {"v": "-1", "w": "0"},
    }  # small, with everything in its legend
    for result in (wide(), *(connectivity(Network.from_edges(**fields)) for fields in (LOCKED, cycle))):  # type: ignore[arg-type]
        pixels = image.imread(io.BytesIO(picture_bytes(result, ".png")))[..., :3]
        for border in (pixels[:8], pixels[-8:], pixels[:, :8], pixels[:, -8:]):
            assert (border == 1).all()
        assert (pixels < 0.5).any()


def test_command_writes_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = tmp_path / "net.json"
    network.write_text(json.dumps(LOCKED))
    assert main(["connectivity", str(network), "--picture", str(tmp_path / "net.svg")]) == 1
    assert "cannot change" in capsys.readouterr().out
    assert ElementTree.parse(tmp_path / "net.svg").getroot().tag.endswith("svg")
    assert main(["connectivity", str(network), "--picture", str(tmp_path / "net.gif")]) == 2
    assert "net.gif': a picture is written as .svg, .png or .pdf" in capsys.readouterr().err


def test_without_matplotlib_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    network = tmp_path / "net.json"
    network.write_text(json.dumps(LOCKED))
    assert main(["connectivity", str(network), "--picture", str(tmp_path / "net.svg")]) == 2
    out, err = capsys.readouterr()
    assert (out, sorted(path.name for path in tmp_path.iterdir())) == ("", ["net.json"])
    assert "pip install 'lakatos[plot]'" in err
    with pytest.raises(InputError, match="matplotlib"):
        lakatos.connectivity(lakatos.read_network(network)).plot()


def test_a_new_figure_has_a_size_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    ax = wide().plot()
    figure = ax.get_figure()
    assert figure is not None
    assert figure.get_figheight() > 2  # type: ignore[union-attr]
    pyplot.close("all")


def test_layers_run_in_order() -> None:
    found = layers_of(wide())
    assert all(a < b for a, b, _, _ in found.links)
    assert all(a[0] <= b[0] for a, b in pairwise(found.links))
