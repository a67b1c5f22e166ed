"""Write the source of an operation's functions from its forward and its rules; see `tape`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

# What a rule may ask of an input without keeping the input: its shape, and whether it is a matrix
# that lies in memory column by column.
_layout = {"sizes": "{0}.shape", "columns": "is_column_major({0})"}


def _arguments(function: Any) -> list[str]:
    """Give the names of a function's arguments."""
    function = inspect.unwrap(function)
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount])


class Writer:
    """Writes the source of an operation and of its node's two methods."""

    def __init__(
        self,
        node_name: str,
        forward: Callable[..., Any],
        rules: dict[str, Callable[..., Any]],
        constants: tuple[str, ...],
        broadcasts: bool | tuple[str, ...],
        twins: dict[str, Callable[..., Any]] | None,
    ) -> None:
        self.name = forward.__name__
        self.twins = twins or {}
        self.quiet = getattr(forward, "quiet", False)
        self.arguments = _arguments(forward)
        self.differentiable = list(rules)
        self.tensors = [name for name in self.arguments if name in rules or name in constants]
        self.needs = {name: self._needs(rule) for name, rule in rules.items()}
        needed = {need for needs in self.needs.values() for need in needs}
        # as PyTorch: in the order of their names, the result last; so hooks see them
        self.saved = sorted(needed, key=lambda name: (name == "result", name))
        shapes = [f"{name}_sym_{what}" for name in self.tensors for what in _layout]
        unknown = {*self.saved} - {*self.arguments, *shapes, "result"}
        if unknown or {*rules} - {*self.arguments}:
            raise TypeError(
                f"a rule of {node_name} names {sorted(unknown | {*rules} - {*self.arguments})}; "
                f"known are the arguments {self.arguments}, result, and {shapes}"
            )
        # the inputs that may be broadcast or converted
        self.broadcasts = tuple(rules) if broadcasts is True else broadcasts or ()
        self.converts = broadcasts is True
        # places are saved too, and released: in PyTorch they are tensors
        several = len(self.differentiable) > 1
        self.optional = tuple(
            place for place, name in enumerate(self.saved) if several and self.is_tensor(name)
        )
        self.keeps_tensors = any(map(self.is_tensor, self.saved)) or bool(
            {"indices", "positions"} & {*self.saved}
        )

    def _needs(self, rule: Callable[..., Any]) -> list[str]:
        """Give what a rule asks for. An operation as a rule calls this one's result `output`."""
        return [
            "result" if name == "output" and name not in self.arguments else name
            for name in _arguments(rule)[1:]
        ]

    def is_tensor(self, name: str) -> bool:
        """Tell whether what is saved under a name is a tensor."""
        return name == "result" or name in self.tensors

    def operation(self, arithmetic: bool, view: bool) -> str:
        """Write the function that computes, and records where a gradient is needed."""
        tensors, differentiable = self.tensors, self.differentiable
        lines = [f"def {self.name}({', '.join(self.arguments)}):"]
        unwrap = [f"array_{t} = {t}._array" for t in tensors]
        if arithmetic:
            a, b = differentiable
            number = f"{b}.__class__ in numbers and {a}.__class__ is Tensor"
            lines += [
                f"    if {b}.__class__ is not Tensor:",
                f"        if {number} and not rules.running:",
                f"            {b} = scalar({b}, {a}._array.dtype)",
                f"        elif not isinstance({b}, Tensor):",
                f"            return meet_other(this, {a}, {b})",
                "    try:",
                *(f"        {line}" for line in unwrap),
                "    except AttributeError:",
                f"        return meet_other(this, {a}, {b})",
            ]
            lines += [f"    if array_{a}.dtype is not array_{b}.dtype:"]
            lines += [f"        return meet_types(this, {a}, {b})"]
        else:
            lines += [f"    {line}" for line in unwrap]
        given = ", ".join(f"array_{a}" if a in tensors else a for a in self.arguments)
        if self.quiet:  # as `quietly` does, without a call
            lines += ["    try:", "        silence = silences.pop()"]
            lines += ["    except IndexError:", "        silence = new_silence()"]
        call = f"{'silence.run(forward, ' if self.quiet else 'forward('}{given})"
        lines += [
            "    try:",
            f"        result_array = {call}",
            "    except (ValueError, RuntimeWarning, FloatingPointError) as error:",
            f"        result_array = retry(forward, error, {given})",
        ]
        if self.quiet:
            lines += ["    finally:", "        silences.append(silence)"]
        lines += [
            "    if result_array.__class__ is not ndarray:",
            "        result_array = as_array(result_array)",
            "    result = new(Tensor)",
            "    result._array = result_array",
            "    result._grad = result._meta = result._version_counter = result._view = None",
            *(f"    edge_{t} = {t}._edge" for t in differentiable),
        ]
        wanted = " or ".join(f"edge_{t} is not NO_EDGE" for t in differentiable)
        lines += [
            "    recording = grad_mode.enabled",
            f"    if recording and ({wanted}):",
            "        node = NodeType()",
        ]
        if len(differentiable) > 1:
            lines += [f"        edge_{t} = edge_{t} or resolve_edge({t})" for t in differentiable]
            edges = "".join(f"edge_{t}, " for t in differentiable)
        else:
            t = differentiable[0]
            edges = f"edge_{t} or resolve_edge({t}),"
        lines += [f"        node.next_functions = ({edges})"]
        lines += [
            "        node._saved = (" + "".join(f"{self._save(s)}, " for s in self.saved) + ")",
            "        node._hooks = None",
            "        node._priority = next_priority()",
        ]
        if self.broadcasts:
            pairs = "".join(
                f"(array_{t}.shape, array_{t}.dtype), " if t in self.broadcasts else "None, "
                for t in differentiable
            )
            shapes = [f"array_{t}.shape" for t in self.broadcasts]
            # two inputs of one shape cannot have been broadcast
            same = " == ".join(shapes if arithmetic else [*shapes, "result_array.shape"])
            if arithmetic:  # nor does it matter to one that needs no gradient, such as a number
                same += f" or edge_{b} is NO_EDGE and {shapes[0]} == result_array.shape"
            elif self.converts:
                same += "".join(
                    f" and array_{t}.dtype is result_array.dtype" for t in self.broadcasts
                )
            lines += [f"        node._broadcast = None if {same} else ({pairs})"]
        else:
            lines += ["        node._broadcast = None"]
        lines += [
            "        result._edge = (node, 0)",
            "        if recording is not True:",
            "            recording.attend(node, result)",
            "    else:",
            "        result._edge = NO_EDGE",
            "        if recording is None:",
            "            result._version_counter = INFERENCE",
        ]
        if view:
            settings = ", ".join(a for a in self.arguments if a not in tensors)
            replay = (
                f"lambda base: (this if isinstance(base, Tensor) else forward)(base, {settings})"
            )
            lines += [f"    make_view(result, {tensors[0]}, {replay})"]
        return "\n".join([*lines, "    return result"])

    def _save(self, name: str) -> str:
        """Write what is saved under a name: nothing if no input that needs it wants a gradient."""
        tensor, _, what = name.partition("_sym_")
        if what:
            return _layout[what].format(f"array_{tensor}")
        if not self.is_tensor(name):
            return name
        if name == "result":
            kept = "SavedTensor(result, True)"
        else:
            kept = f"({name} if {name}._version_counter is None else SavedTensor({name}))"
        users = [t for t in self.differentiable if name in self.needs[t]]
        if len(users) == len(self.differentiable) or name == "result":  # as PyTorch does
            return kept
        wanted = " or ".join(f"edge_{t} is not NO_EDGE" for t in users)
        return f"{kept} if {wanted} else None"

    def rule(self, method: str, prefix: str, direct: str, unpack: str) -> str:
        """Write the method of the node that unpacks the saved values and applies the rules."""
        lines = [f"def {method}(node, grad, keep=True):"]
        if self.saved:
            lines += ["    saved = node._saved", "    if saved is None:"]
            lines += ["        raise RuntimeError(RELEASED)"]
            lines += [f"    {', '.join(self.saved)}, = saved"]
        several = len(self.differentiable) > 1
        for name in filter(self.is_tensor, self.saved):
            value = (
                f"{name} = {direct.format(name)} if {name}._version_counter is None "
                f"else {unpack.format(name)}"
            )
            if name == "result" and method == "_run":  # as `unpack_array` does, without a call
                value = (
                    "result = result.array if result.__class__ is SavedTensor and "
                    "result._version_counter.value == result.version "
                    f"else {unpack.format(name)}"
                )
            lines += (
                [f"    if {name} is not None:", f"        {value}"] if several else [f"    {value}"]
            )
        calls = [
            f"{prefix}_{t}({', '.join(['grad', *self.needs[t]])})" for t in self.differentiable
        ]
        if self.broadcasts:
            lines += ["    wanted = node._broadcast"]
        for place, t in enumerate(self.differentiable):
            if t in self.twins and method == "_run":
                twin = f"twin_{t}({', '.join(['grad', *self.needs[t], f'wanted[{place}]'])})"
                calls[place] = f"({calls[place]} if wanted is None else {twin})"
        if several:
            names = [f"edge_{t}" for t in self.differentiable]
            lines += [f"    {', '.join(names)}, = node.next_functions"]
            calls = [
                f"{call} if {edge}[0] is not None else None"
                for call, edge in zip(calls, names, strict=True)
            ]
        gradients = [f"grad_{t}" for t in self.differentiable]
        pairs = zip(gradients, calls, strict=True)
        # PyTorch computes them in the order of their names
        lines += sorted(f"    {name} = {call}" for name, call in pairs)
        if self.keeps_tensors:
            tensors = list(filter(self.is_tensor, self.saved))
            some = " or ".join(f"{name} is not None" for name in tensors)
            # where none was needed there is none to miss the next time
            lines += [
                f"    if not keep and ({some}):" if several and tensors else "    if not keep:",
                "        node._saved = None",
            ]
        if self.broadcasts:
            lines += ["    if wanted is not None:"]
            for t in self.broadcasts:
                place = self.differentiable.index(t)
                lines += [f"        grad_{t} = reduce_gradient(grad_{t}, wanted[{place}])"]
        return "\n".join([*lines, f"    return ({', '.join(gradients)},)"])
