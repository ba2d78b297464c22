"""Networks from files and from PyTorch modules."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core import InputError
from .graphs.network import Network
from .network_arrays import network_from_npz
from .network_files import bounded_bytes, bounded_file, read_balance
from .network_graphml import network_from_graphml
from .network_json import network_from_json

if TYPE_CHECKING:
    from torch import nn

__all__ = ["is_factory", "network_of", "read_module", "read_network"]

_LARGEST_TEXT = 256 << 20
_LARGEST_ARCHIVE = 2 << 30
_NAME = r"[^\W\d]\w*"
_FACTORY = re.compile(rf"{_NAME}(\.{_NAME})*:{_NAME}")
_TEXT_READERS: dict[str, Callable[[bytes], Network]] = {".json": network_from_json, ".graphml": network_from_graphml}
_FORMATS = ".json, .graphml, .npz, .onnx, or 'package.module:factory' for a PyTorch module"


def read_network(
    source: str | os.PathLike[str],
    *,
    balance: Mapping[Any, Any] | str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Network:
    """Return the network that `source` describes.

    Parameters
    ----------
    source : path or str
        A ``.json``, ``.graphml``, ``.npz`` or ``.onnx`` file, or ``package.module:factory``: a callable that takes no
        arguments and returns a `torch.nn.Module`, imported with the current folder on the path.
    balance : mapping or path, optional
        Balance of every hidden node, or a JSON or TOML file with that table; replaces weights and balance of `source`.
    checkpoint : path, optional
        State dict loaded into the module of a factory: ``.safetensors``, else saved by `torch.save`.

    Raises
    ------
    InputError
        Naming the file and the field, or the module path.
    """
    text = os.fspath(source)
    if is_factory(text):
        network = network_of(read_module(text, checkpoint=checkpoint))
    elif checkpoint is not None:
        raise InputError(f"checkpoint={os.fspath(checkpoint)!r}: weights are loaded into a module; {text} is a file")
    else:
        network = _from_file(Path(text))
    if balance is None:
        return network
    return network.with_balance(balance if isinstance(balance, Mapping) else read_balance(Path(balance)))


def network_of(module: nn.Module) -> Network:
    """Return the network of a PyTorch module with its current weights; see `lakatos.numerics.modules.network_of`.

    Raises
    ------
    InputError
        Naming the module path of anything that is not supported.
    """
    from .numerics import modules

    return modules.network_of(module)


def _from_file(path: Path) -> Network:
    suffix = path.suffix.lower()
    try:
        if suffix in _TEXT_READERS:
            return _TEXT_READERS[suffix](bounded_bytes(path, _LARGEST_TEXT))
        if suffix == ".npz":
            return network_from_npz(bounded_file(path, _LARGEST_ARCHIVE))
        if suffix == ".onnx":
            # The readers of models are larger than the rest; graph files do without.
            from .network_onnx import network_from_onnx

            return network_from_onnx(path)
        if not path.exists():
            raise InputError(f"no such file; a network is {_FORMATS}")
        hint = (
            "; name the callable in it so: " + ".".join(path.with_suffix("").parts) + ":NAME" if suffix == ".py" else ""
        )
        raise InputError(f"suffix={path.suffix!r}: a network is {_FORMATS}{hint}")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def is_factory(source: str) -> bool:
    """Return whether `source` is ``package.module:factory``, and not the name of a file.

    Examples
    --------
    >>> is_factory("models:build"), is_factory("models.json")
    (True, False)
    """
    return bool(_FACTORY.fullmatch(source)) and not Path(source).exists()


def read_module(source: str, *, checkpoint: str | os.PathLike[str] | None = None) -> nn.Module:
    """Return what the factory ``package.module:factory`` returns, with the state dict `checkpoint` loaded into it.

    Raises
    ------
    InputError
        If it cannot be imported or called, returns no `torch.nn.Module`, or the checkpoint does not fit.
    """
    place, _, attribute = source.partition(":")
    # The module's own prints must not mix with our output; SystemExit must not become our exit status.
    with _current_folder_on_path(), redirect_stdout(sys.stderr):
        try:
            factory = getattr(import_module(place), attribute)
        except (Exception, SystemExit) as error:
            raise InputError(f"{source}: cannot be imported ({type(error).__name__}: {error})") from error
        try:
            module = factory()
        except (Exception, SystemExit) as error:
            raise InputError(
                f"{source}: calling it without arguments raised {type(error).__name__}: {error}"
            ) from error
    from torch import nn

    if not isinstance(module, nn.Module):
        raise InputError(f"{source}: returned {type(module).__name__}; a torch.nn.Module is needed")
    if checkpoint is not None:
        from .numerics import checkpoints

        checkpoints.load_checkpoint(module, Path(checkpoint))
    return module


@contextmanager
def _current_folder_on_path() -> Iterator[None]:
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
