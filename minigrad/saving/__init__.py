"""Save what was learned to a file, and load it again; nothing in a file is ever executed.

`.npz` files are NumPy's, `.safetensors` files need the library of that name. Both hold tensors by
name, as a state dict has them, and others read them: `np.load(path)`, or
`safetensors.torch.load_file(path)`. Files with any other ending, such as `.pt` and `.pth`, are
PyTorch's own: `torch.load(path)` reads them there, and `load` here reads what PyTorch wrote, if it
holds nothing but tensors, numbers, strings and containers.
"""

from __future__ import annotations

import copy
import io
import os
import pickle
import secrets
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from minigrad.autograd.messages import warn
from minigrad.creation.construction import from_numpy
from minigrad.nn.modules.module import Module
from minigrad.saving import formats, pytorch

File = str | os.PathLike[str] | BinaryIO

_OLD = (
    "it was written by pickle, or by a PyTorch before 1.6, and loading that could run any program. "
    "In PyTorch, convert it once: torch.save(torch.load(path, weights_only=True), new_path)"
)
# whole modules that were saved, by the name that stands in the file; and the names by the paths
_copies: dict[str, Any] = {}
_names: dict[str, str] = {}


def save(
    obj: Any,
    f: File,
    pickle_module: Any = None,
    pickle_protocol: Any = None,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save tensors, or a structure of them such as a state dict.

    The file is written beside the old one and then takes its place: if something goes wrong, the
    old one is still there.

    Args:
        obj: Tensors, numbers, strings and None; dictionaries, lists, tuples and sets of them. Or a
            whole module, of which a copy stays in this program: as long as a file in memory,
            `io.BytesIO`, is there, or until another module is saved to the same path. The file
            holds its name, and its state for other programs.
        f: Where to: a path, or a file that is open for writing bytes. It gets PyTorch's format, but
            for a path that ends in `.npz` or `.safetensors`: these take a dictionary of tensors.
        pickle_module: Not offered: only what is listed above is written.
        pickle_protocol: Accepted, without effect.
        _use_new_zipfile_serialization: Here because PyTorch has it.
        _disable_byteorder_record: Here because PyTorch has it.

    Raises:
        TypeError: If there is something in it that cannot be saved.
        RuntimeError: If there is no such directory.
        ImportError: If the library for `.safetensors` is not installed.

    Example:
        >>> import os, tempfile
        >>> import minigrad as torch
        >>> model = torch.nn.Linear(2, 1)
        >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
        >>> torch.save(model.state_dict(), path)
        >>> torch.nn.Linear(2, 1).load_state_dict(torch.load(path))
        <All keys matched successfully>
    """
    if pickle_module is not None:
        raise NotImplementedError(
            "pickle_module is not offered: only plain data is written, so one way to pickle does"
        )
    place: Any = f
    named = isinstance(f, (str, os.PathLike))
    if not named and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    path = os.fspath(place) if named else str(getattr(f, "name", ""))
    write = formats.WRITTEN.get(Path(path).suffix.lower()) if named else None
    if write is not None:
        _replace(place, lambda file: write(file, formats.arrays_of(obj)))
        return
    content = _kept(obj, f, path) if isinstance(obj, Module) else None

    def put(file: BinaryIO) -> None:
        if content is not None:
            file.write(content)
        else:
            pytorch.write(file, obj, Path(path).stem if named else "archive")

    if named:
        _replace(place, put)
    else:
        put(place)


_COPY, _LENGTH = b"minigrad module ", 32  # what such a file begins with, and of the name behind


def _kept(module: Module, f: Any, path: str) -> bytes:
    """Keep a copy of a module in this program, and give what stands for it in its file."""
    name = secrets.token_hex(_LENGTH // 2)
    _copies[name] = copy.deepcopy(module)
    if isinstance(f, io.BytesIO):
        weakref.finalize(f, _copies.pop, name, None)
    else:
        place = os.path.realpath(path)
        _copies.pop(_names.get(place, ""), None)
        _names[place] = name
        warn(
            f"a whole module stays in this program: another one can load no more of {path!r} than "
            "the state_dict(), with weights_only=True."
        )
    content = io.BytesIO()
    pytorch.write(content, module.state_dict(), "archive")
    return _COPY + name.encode() + content.getvalue()


def _replace(path: str | os.PathLike[str], write: Callable[[BinaryIO], Any]) -> None:
    """Write a new file, and let it take the place of the old one when it is complete."""
    path = Path(os.path.realpath(path))  # a link stays one, and leads to the new file
    if path.is_dir():
        raise RuntimeError(f"{path} is a directory. Give the name of a file.")
    if not path.parent.is_dir():
        raise RuntimeError(f"Parent directory {path.parent} does not exist.")
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0o022)  # it can only be read by setting it
        os.umask(mask)
        # in a browser the mask takes everything away
        new = 0o600 | 0o666 & ~mask
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else new)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(
    f: File,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what `save` has saved, here or in PyTorch, or any `.npz` or `.safetensors` file.

    The content says which format it is, not the name. Nothing in a file is ever executed.

    Args:
        f: A path, or a file that is open for reading bytes.
        map_location: Where the tensors go to: None or "cpu"; a function need not be asked.
        pickle_module: Not offered: a reader of minigrad's own reads plain data.
        weights_only: False is asked for a whole module; other files hold nothing else.
        mmap: None or False; the file is read as a whole.
        **pickle_load_args: Not offered.

    Returns:
        The structure that was saved; for files of others a dictionary of tensors by name.

    Raises:
        RuntimeError: If the file is damaged, or is none of these formats.
        FileNotFoundError: If there is no such file.
        NotImplementedError: If something was asked for that there is not.
    """
    if pickle_module is not None or pickle_load_args:
        raise NotImplementedError(
            "options of pickle are not offered: a reader of minigrad's own takes plain data alone"
        )
    if mmap:
        raise NotImplementedError("mmap=True is not offered: the file is read as a whole")
    if not _is_here(map_location):
        raise NotImplementedError(
            f"map_location={map_location!r}: tensors can only be on the 'cpu' here"
        )
    weights_only = None if weights_only is None else bool(weights_only)
    content, name = _content(f)
    if content.startswith(_COPY):
        kept = _copies.get(content[len(_COPY) :][:_LENGTH].decode("ascii", "replace"))
        content = content[len(_COPY) + _LENGTH :]
        if kept is not None or weights_only is False:
            return _copied(kept, weights_only)
    try:
        return _read(content, map_location is not None)
    except (ImportError, Warning):
        raise
    except _NoFormat as error:
        raise RuntimeError(f"cannot load {name}: {error}") from None
    except Exception as error:
        said = str(error) or type(error).__name__
        raise RuntimeError(
            f"cannot load {name}: it is damaged, or not what it seems: {said}. Nothing was "
            "loaded. Use another copy of the file."
        ) from error


def _content(f: File) -> tuple[bytes, str]:
    """Read all of a file, as long as it is now, and give its name for messages."""
    if isinstance(f, (str, os.PathLike)):
        if Path(f).exists() and not (Path(f).is_file() or Path(f).is_dir()):
            raise RuntimeError(f"cannot load {os.fspath(f)!r}: it is a device or a pipe, no file")
        with open(f, "rb") as file:
            return _content(file)[0], repr(os.fspath(f))
    try:
        start = f.tell()
        size = f.seek(0, os.SEEK_END) - start
        f.seek(start)
    except (AttributeError, OSError) as error:
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the "
            "data into a buffer like io.BytesIO and try to load from it instead."
        ) from None
    content = f.read(max(size, 0))
    if not isinstance(content, bytes):
        raise TypeError(f"expected a file that is open for bytes, but it gave {type(content)}")
    return content, "the file"


def _copied(kept: Any, weights_only: bool | None) -> Any:
    """Give another copy of a module that this program has saved."""
    if weights_only is not False:
        raise pickle.UnpicklingError(
            "Weights only load failed: this is a whole module. Give weights_only=False."
        )
    if kept is None:
        raise RuntimeError(
            "cannot load a whole module: the program that saved it is gone, or the file in memory, "
            "or another one was saved to the same path. With weights_only=True the file gives its "
            "state_dict(), for load_state_dict() of a module that you make."
        )
    return copy.deepcopy(kept)


def _read(content: bytes, moved: bool) -> Any:
    """Tell the formats apart by how they begin."""
    if content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        files = formats.unpack(content)
        if pytorch.is_one(files):
            return pytorch.read(files, moved)
        arrays = formats.read_npz(files)
    elif content[8:9] == b"{":
        arrays = formats.read_safetensors(content)
    else:
        raise _NoFormat(_what_it_is(content))
    return {name: from_numpy(array) for name, array in arrays.items()}


class _NoFormat(Exception):
    """Says what a file is that is in none of the formats."""


def _what_it_is(content: bytes) -> str:
    """Say what a file is that cannot be loaded."""
    if not content:
        return "it is empty"
    if content[:1] == b"\x80":
        return _OLD
    if content[:6] == b"\x93NUMPY":
        return "it is a single array. Use minigrad.from_numpy(numpy.load(path))"
    return "it is neither one of PyTorch's files, nor an .npz or a .safetensors file"


def _is_here(location: Any) -> bool:
    """Tell whether a place for tensors is the only one that there is."""
    if location is None or callable(location) or str(location) in ("cpu", "cpu:0"):
        return True
    return isinstance(location, dict) and all(_is_here(place) for place in location.values())
