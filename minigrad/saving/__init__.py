"""Save what was learned to a file, and load it again; nothing in a file is ever executed.

`.npz` files are NumPy's, `.safetensors` files need the library of that name. Both hold the tensors
under their names, so PyTorch reads them: `safetensors.torch.load_file(path)`, or `np.load(path)`,
where the entry `minigrad.json` is no tensor: it says how all was put together.
`torch.save` pickles, and loading a pickle can run any program: such files are refused.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from minigrad.core.tensor import wrap
from minigrad.saving import structure
from minigrad.saving.formats import (
    PyTorchFile,
    read_npz,
    read_safetensors,
    safetensors_content,
    write_npz,
)

File = str | os.PathLike[str] | BinaryIO

_CONVERT = (
    "It was written by torch.save, which pickles: loading it could run any program. In PyTorch, "
    "convert it once: state = torch.load(path, weights_only=True), then "
    "safetensors.torch.save_file(state, 'model.safetensors') for the state dict of a model. "
    "minigrad.load reads that."
)


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
        obj: Tensors, numbers, strings and None; dictionaries, lists, tuples and sets of them.
        f: Where to: a path that ends in `.npz` or `.safetensors`, or a file that is open for
            writing bytes, which becomes an `.npz` file.
        pickle_module: Not offered: nothing is pickled.
        pickle_protocol: Accepted, without effect.
        _use_new_zipfile_serialization: Here because PyTorch has it.
        _disable_byteorder_record: Here because PyTorch has it.

    Raises:
        TypeError: If there is something in it that cannot be saved, such as a whole module.
        ValueError: If the path has another ending.
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
        raise NotImplementedError("nothing is pickled, so there is no use for pickle_module")
    writer = structure.Writer()
    text = writer.text(obj)
    if not isinstance(f, (str, os.PathLike)):
        write_npz(f, writer.arrays, text)
        return
    ending = Path(f).suffix.lower()
    if ending == ".npz":
        _replace(f, lambda file: write_npz(file, writer.arrays, text))
    elif ending == ".safetensors":
        content = safetensors_content(writer.arrays, text)
        _replace(f, lambda file: file.write(content))
    else:
        raise ValueError(
            f"cannot tell from the ending {ending!r} in which format to save. Use '.npz' (needs "
            "nothing else) or '.safetensors'. PyTorch's .pt and .pth files are pickles, which "
            "minigrad neither writes nor reads."
        )


def _replace(path: str | os.PathLike[str], write: Callable[[BinaryIO], Any]) -> None:
    """Write a new file, and let it take the place of the old one when it is complete."""
    path = Path(os.path.realpath(path))  # a link stays one, and leads to the new file
    if not path.parent.is_dir():
        raise RuntimeError(f"Parent directory {path.parent} does not exist.")
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """Give the permissions that new files do not get; they can only be read by setting them."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def load(
    f: File,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what `save` has saved, or any `.npz` or `.safetensors` file of tensors.

    The content says which format it is, not the name. Nothing is ever unpickled.

    Args:
        f: A path, or a file that is open for reading bytes.
        map_location: Where the tensors go to: None or "cpu".
        pickle_module: Not offered: nothing is unpickled.
        weights_only: Accepted: files hold nothing else.
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
        raise NotImplementedError("nothing is unpickled, so there is nothing to set about it")
    if mmap:
        raise NotImplementedError("mmap=True is not offered: the file is read as a whole")
    if not _is_here(map_location):
        raise NotImplementedError(
            f"map_location={map_location!r}: tensors can only be on the 'cpu' here"
        )
    content, name = _content(f)
    try:
        found = _read(content)
        if found is None:
            raise RuntimeError(f"cannot load {name}: {_what_it_is(content)}")
        arrays, text = found
        if text is None:
            return {key: wrap(array) for key, array in arrays.items()}
        return structure.read(text, arrays)
    except PyTorchFile:
        raise RuntimeError(f"cannot load {name}. {_CONVERT}") from None
    except (ImportError, Warning):
        raise
    except Exception as error:
        if isinstance(error, RuntimeError) and str(error).startswith("cannot load"):
            raise
        said = str(error) or type(error).__name__
        raise RuntimeError(
            f"cannot load {name}: it is damaged, or not what it seems: {said}. Nothing was "
            "loaded. Use another copy of the file."
        ) from error


def _content(f: File) -> tuple[bytes, str]:
    """Read all of a file, and give its name for messages."""
    if isinstance(f, (str, os.PathLike)):
        return Path(f).read_bytes(), repr(os.fspath(f))
    content = f.read()
    if not isinstance(content, bytes):
        raise TypeError(f"expected a file that is open for bytes, but it gave {type(content)}")
    return content, "the file"


def _read(content: bytes) -> tuple[structure.Arrays, str | None] | None:
    """Read arrays and structure in the format that the content shows, if it is one."""
    if content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return read_npz(content)
    length = int.from_bytes(content[:8], "little")
    if content[8:9] == b"{":
        if length > len(content) - 8:
            raise ValueError(f"its header says it has {length} bytes, more than there are")
        header = json.loads(
            content[8 : 8 + length], object_pairs_hook=structure._without_repetition
        )
        return read_safetensors(content, header)
    return None


def _what_it_is(content: bytes) -> str:
    """Say what a file is that cannot be loaded."""
    if not content:
        return "it is empty"
    if content[:1] == b"\x80":
        return _CONVERT
    if content[:6] == b"\x93NUMPY":
        return "it is a single array. Use minigrad.from_numpy(numpy.load(path))"
    return "it is neither an .npz nor a .safetensors file"


def _is_here(location: Any) -> bool:
    """Tell whether a place for tensors is the only one that there is."""
    if location is None or str(location) in ("cpu", "cpu:0"):
        return True
    return isinstance(location, dict) and all(_is_here(place) for place in location.values())
