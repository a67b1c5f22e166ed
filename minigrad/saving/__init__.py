"""Save what was learned to a file, and load it again; nothing in a file is ever executed.

`.npz` files are NumPy's, `.safetensors` files those of the library of that name. Both hold tensors
by name, as a state dict has them, and others read them: `np.load(path)`, or
`safetensors.torch.load_file(path)`. Files with any other ending, such as `.pt` and `.pth`, are
PyTorch's own: `torch.load(path)` reads them there, and `load` here reads what PyTorch wrote, if it
holds nothing but tensors, numbers, strings and containers.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, BinaryIO

from minigrad.creation.construction import from_numpy
from minigrad.saving import formats, pytorch

File = str | os.PathLike[str] | BinaryIO

_OLD = (
    "it was written by pickle, or by a PyTorch before 1.6, and loading that could run any program. "
    "In PyTorch, convert it once: torch.save(torch.load(path, weights_only=True), new_path)"
)


def save(
    obj: Any,
    f: File,
    pickle_module: Any = None,
    pickle_protocol: Any = None,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Save tensors, or a structure of them such as a state dict.

    The file is written beside the old one and then takes its place: if something goes wrong, the
    old one is still there.

    Args:
        obj: Tensors, numbers, strings and None; dictionaries, lists, tuples and sets of them. Of a
            module save the `state_dict()`.
        f: Where to: a path, or a file that is open for writing bytes. It gets PyTorch's format, but
            for a path that ends in `.npz` or `.safetensors`: these take a dictionary of tensors.
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
        >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
        >>> torch.save(model.state_dict(), path)
        >>> torch.nn.Linear(2, 1).load_state_dict(torch.load(path))
        <All keys matched successfully>
    """
    if pickle_module is not None:
        raise NotImplementedError("pickle_module is not offered: only plain data is written")
    place: Any = f
    named = isinstance(f, (str, os.PathLike))
    path = os.fspath(place) if named else str(getattr(f, "name", ""))
    path = path and os.path.realpath(path)  # a link stays one, and leads to the new file
    content = io.BytesIO()
    write = formats.WRITTEN.get(Path(path).suffix.lower()) if named else None
    if write is not None:
        write(content, formats.arrays_of(obj))
    else:
        pytorch.write(content, obj, Path(path).stem if named else "archive")
    if not named:
        place.write(content.getvalue())
        return
    if not Path(path).parent.is_dir():
        raise RuntimeError(f"Parent directory {Path(path).parent} does not exist.")
    part = Path(f"{path}.part")
    try:
        part.write_bytes(content.getvalue())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
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
        pickle_module: Not offered: plain data is read.
        weights_only: Accepted, without effect: files hold nothing else.
        mmap: None or False; the file is read as a whole.
        **pickle_load_args: Not offered.

    Returns:
        The structure that was saved; for files of others a dictionary of tensors by name.

    Raises:
        RuntimeError: If the file is damaged, or is none of these formats.
        FileNotFoundError: If there is no such file.
        NotImplementedError: If something was asked for that there is not.
    """
    if pickle_module is not None or pickle_load_args or mmap:
        raise NotImplementedError("options of pickle, and mmap=True, are not offered by load()")
    if not _is_here(map_location):
        raise NotImplementedError(
            f"map_location={map_location!r}: tensors can only be on the 'cpu' here"
        )
    named = isinstance(f, (str, os.PathLike))
    content: bytes = Path(f).read_bytes() if named else f.read()  # type: ignore[arg-type, union-attr]
    name = repr(os.fspath(f)) if named else "the file"  # type: ignore[arg-type]
    try:
        return _read(content, map_location is not None)
    except Warning:
        raise
    except Exception as error:
        raise RuntimeError(
            f"cannot load {name}: {str(error) or type(error).__name__}. Nothing was loaded. If it "
            "should be one of PyTorch's files, or .npz or .safetensors, use another copy of it."
        ) from error


def _read(content: bytes, moved: bool) -> Any:
    """Tell the formats apart by how they begin."""
    if content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        files = formats.unpack(content)
        if any(f"/{name}".endswith("/data.pkl") for name in files):
            return pytorch.read(files, moved)
        arrays = formats.read_npz(files)
    elif content[8:9] == b"{":
        arrays = formats.read_safetensors(content)
    elif content[:1] == b"\x80":
        raise ValueError(_OLD)
    elif content[:6] == b"\x93NUMPY":
        raise ValueError("it is a single array. Use minigrad.from_numpy(numpy.load(path))")
    else:
        raise ValueError("it is empty" if not content else "it is in an unknown format")
    return {name: from_numpy(array) for name, array in arrays.items()}


def _is_here(location: Any) -> bool:
    """Tell whether a place for tensors is the only one that there is."""
    if location is None or callable(location) or str(location) in ("cpu", "cpu:0"):
        return True
    return isinstance(location, dict) and all(_is_here(place) for place in location.values())
