"""Save what was learned to a file, and load it again; nothing in a file is ever executed.

The files are PyTorch's own: `torch.load(path)` reads them there, and `load` here reads what PyTorch
wrote, if it holds nothing but tensors, numbers, strings and containers. For a path that ends in
`.npz`, `save` writes arrays by name instead, which `numpy.load(path)` reads.
"""

from __future__ import annotations

import io
import os
import zipfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from minigrad.core.tensor import Tensor
from minigrad.saving import pytorch

_OTHERS = "numpy.load reads .npz files, the safetensors package .safetensors files"
File = str | os.PathLike[str] | BinaryIO


def save(
    obj: Any,
    f: File,
    pickle_module: Any = None,
    pickle_protocol: Any = None,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Save tensors, or a structure of them such as a state dict.

    If something cannot be saved, an older file of that name is still there.

    Args:
        obj: Tensors, numbers, strings and None; dictionaries, lists and tuples of them. Of a
            module save the `state_dict()`.
        f: Where to: a path, or a file that is open for writing bytes. It gets PyTorch's format, but
            for a path that ends in `.npz`: this takes a dictionary of tensors.
        pickle_module: Not offered: only what is listed above is written.
        pickle_protocol: Accepted, without effect.
        _use_new_zipfile_serialization: Here because PyTorch has it.

    Raises:
        TypeError: If there is something in it that cannot be saved.
        RuntimeError: If there is no such directory.

    Example:
        >>> import os, tempfile
        >>> import minigrad as torch
        >>> model = torch.nn.Linear(2, 1)
        >>> path = os.path.join(tempfile.mkdtemp(), "model.pt")
        >>> torch.save(model.state_dict(), path)
        >>> torch.nn.Linear(2, 1).load_state_dict(torch.load(path))
        <All keys matched successfully>
    """
    if pickle_module is not None:
        raise NotImplementedError("pickle_module is not offered: only plain data is written")
    named, content = isinstance(f, (str, os.PathLike)), io.BytesIO()
    path = Path(f if named else getattr(f, "name", "archive"))  # type: ignore[arg-type]
    if named and path.suffix.lower() == ".npz":
        np.savez(content, allow_pickle=False, **_arrays_of(obj))
    elif named and path.suffix.lower() == ".safetensors":
        raise ValueError(_OTHERS)
    else:
        pytorch.write(content, obj, path.stem if named else "archive")
    if not named:
        f.write(content.getvalue())  # type: ignore[union-attr]
    elif not path.parent.is_dir():
        raise RuntimeError(f"Parent directory {path.parent} does not exist.")
    else:
        path.write_bytes(content.getvalue())


def load(
    f: File,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what `save` has saved in PyTorch's format, here or in PyTorch.

    Nothing in a file is ever executed.

    Args:
        f: A path, or a file that is open for reading bytes.
        map_location: Where the tensors go to: None or "cpu"; a function need not be asked.
        pickle_module: Not offered: plain data is read.
        weights_only: Accepted, without effect: files hold nothing else.
        mmap: None or False; the file is read as a whole.
        **pickle_load_args: Not offered.

    Returns:
        The structure that was saved.

    Raises:
        RuntimeError: If the file is damaged, or in another format.
        FileNotFoundError: If there is no such file.
        NotImplementedError: If something was asked for that there is not.

    Example:
        >>> import io
        >>> import minigrad as torch
        >>> file = io.BytesIO()
        >>> torch.save({"step": 3}, file)
        >>> _ = file.seek(0)
        >>> torch.load(file)
        {'step': 3}
    """
    if pickle_module is not None or pickle_load_args or mmap:
        raise NotImplementedError("options of pickle, and mmap=True, are not offered by load()")
    if str(map_location).partition(":")[0] in ("cuda", "mps", "xpu", "meta"):
        raise NotImplementedError(f"map_location={map_location!r}: there is only the 'cpu' here")
    named = isinstance(f, (str, os.PathLike))
    content: bytes = Path(f).read_bytes() if named else f.read()  # type: ignore[arg-type, union-attr]
    name = repr(os.fspath(f)) if named else "the file"  # type: ignore[arg-type]
    try:
        return _read(content, map_location is not None)
    except Exception as error:
        raise RuntimeError(f"cannot load {name}: {str(error) or type(error).__name__}") from error


def _read(content: bytes, moved: bool) -> Any:
    """Tell the formats apart by how they begin."""
    if content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            if any(f"/{name}".endswith("/data.pkl") for name in names):
                return pytorch.read({name: archive.read(name) for name in names}, moved)
        raise ValueError(_OTHERS)
    if content[8:9] == b"{":
        raise ValueError(_OTHERS)
    if content[:1] == b"\x80":
        raise ValueError(
            "it was written by pickle, or by a PyTorch before 1.6, and loading that could run any "
            "program. In PyTorch, convert it: torch.save(torch.load(path, weights_only=True), path)"
        )
    raise ValueError("it is in an unknown format")


class safe_globals(nullcontext[None]):
    """Allow nothing more than else: what is loaded is data, never code."""

    def __init__(self, safe_globals: Any) -> None:
        super().__init__()


def _arrays_of(obj: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Give the arrays of tensors by name.

    Raises:
        TypeError: If it is anything else.
    """
    named = isinstance(obj, dict) and all(
        isinstance(name, str) and isinstance(value, Tensor) for name, value in obj.items()
    )
    if not named:
        raise TypeError("a .npz file holds tensors by name; save anything else to a .pt file")
    return {name: value.detach()._array for name, value in obj.items()}
