"""Modules: what containers refuse and print, what hooks let go of, what interrupts a call."""

from __future__ import annotations

import gc
import weakref

import pytest


def kinds(modules):
    return [type(module).__name__ for module in modules]


def chain(torch):
    nn = torch.nn
    return nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Tanh(), nn.Linear(2, 1))


def test_sequential_sends_the_input_through(torch):
    nn = torch.nn
    x = torch.tensor([[-2.0, 3.0]])
    assert nn.Sequential(nn.ReLU(), nn.Flatten(0))(x).tolist() == [0.0, 3.0]
    assert nn.Sequential()(x) is x


def test_sequential_indexing_and_slicing_share_the_modules(torch):
    net = chain(torch)
    assert net[0] is net[-4] and len(net) == 4 and kinds(net) == kinds(net[:])
    part = net[1:3]
    assert type(part) is torch.nn.Sequential and part[0] is net[1]
    assert list(part._modules) == ["1", "2"]  # the names stay
    for index in (4, -5):
        with pytest.raises(IndexError, match="out of range"):
            net[index]
    with pytest.raises(TypeError, match="integer"):
        net["a"]


def test_sequential_changes(torch):
    nn, net = torch.nn, chain(torch)
    del net[1]
    assert list(net._modules) == ["0", "1", "2"]  # the names close up
    net.append(nn.Sigmoid()).extend([nn.ELU()]).insert(0, nn.SiLU()).insert(-1, nn.LeakyReLU())
    net[1] = nn.Identity()
    assert kinds(net) == ["SiLU", "Identity", "Tanh", "Linear", "Sigmoid", "LeakyReLU", "ELU"]
    assert kinds([net.pop(0)]) == ["SiLU"] and kinds(net.pop(slice(0, 2))) == ["Identity", "Tanh"]
    del net[1:]
    assert kinds(net) == ["Linear"]


def test_sequential_refuses(torch):
    net = chain(torch)
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        torch.nn.Sequential(3)
    with pytest.raises(AssertionError, match=r"(?i)module"):
        net.insert(0, 3)
    with pytest.raises(IndexError, match="Index out of range: 9"):
        net.insert(9, torch.nn.ReLU())


def test_module_list(torch):
    nn = torch.nn
    layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    layers.insert(0, nn.ELU())
    layers += [nn.Sigmoid()]
    layers.append(nn.SiLU()).extend(iter([nn.ReLU()]))
    layers[1] = nn.Identity()
    del layers[2]
    assert kinds(layers) == ["ELU", "Identity", "Sigmoid", "SiLU", "ReLU"]
    assert list(layers._modules) == ["0", "1", "2", "3", "4"]
    assert type(layers[1:3]) is nn.ModuleList and kinds(layers[1:3]) == ["Identity", "Sigmoid"]
    assert kinds(layers.__add__([nn.Tanh()]))[-1] == "Tanh" and len(layers) == 5
    assert kinds([layers.pop(-1)]) == ["ReLU"]
    with pytest.raises(IndexError, match="out of range"):
        layers[4]
    with pytest.raises(TypeError, match="iterable"):
        layers.extend(3)
    with pytest.raises(NotImplementedError, match=r"Module \[ModuleList\] is missing"):
        layers(1)


def test_module_list_prints_equal_neighbors_once(torch):
    nn = torch.nn
    layers = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)])
    assert repr(layers) == (
        "ModuleList(\n"
        "  (0-1): 2 x Linear(in_features=1, out_features=1, bias=True)\n"
        "  (2): ReLU()\n"
        "  (3): Linear(in_features=1, out_features=1, bias=True)\n"
        ")"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"
    nested = nn.ModuleList([nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU())])
    assert repr(nested) == "ModuleList(\n  (0-1): 2 x Sequential(\n    (0): ReLU()\n  )\n)"


def test_module_dict(torch):
    nn = torch.nn
    layers = nn.ModuleDict({"a": nn.ReLU()})
    layers.update([("b", nn.Tanh())])
    layers["c"] = nn.ELU()
    assert list(layers) == list(layers.keys()) == ["a", "b", "c"] and "b" in layers
    assert kinds(layers.values()) == ["ReLU", "Tanh", "ELU"]
    assert [name for name, _ in layers.items()] == ["a", "b", "c"]
    assert kinds([layers.pop("a")]) == ["ReLU"] and len(layers) == 2
    del layers["b"]
    with pytest.raises(KeyError, match="b"):
        layers["b"]
    layers.clear()
    assert repr(layers) == "ModuleDict()"


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (3, TypeError, "iterable"),
        ([3], TypeError, r"(?i)iterable"),
        ([("a",)], ValueError, "1"),
        ({"a": 3}, TypeError, "int is not a Module subclass"),
    ],
)
def test_module_dict_refuses(torch, given, kind, message):
    with pytest.raises(kind, match=message):
        torch.nn.ModuleDict(given)


def echo(torch, error=None):
    """A module that returns what it was called with, or raises."""

    class Echo(torch.nn.Module):
        def forward(self, *args, **kwargs):
            if error is not None:
                raise error
            return "result", args, kwargs

    return Echo()


def record(events, name, returned=None):
    """A hook that notes its arguments after the module, and returns or raises what is given."""

    def hook(module, *args):
        events.append((name, *args))
        if isinstance(returned, Exception):
            raise returned
        return returned

    return hook


def test_a_keyboard_interrupt_calls_nothing(torch):
    module, events = echo(torch, KeyboardInterrupt()), []
    module.register_forward_hook(record(events, "a"), always_call=True)
    with pytest.raises(KeyboardInterrupt):
        module(1)
    assert events == []


DEPRECATED = " is deprecated and will be removed in future versions. This hook will be missing "
PLEASE = "Please use register_full_backward_hook to get the documented behavior."


def module_of(torch, forward):
    class Given(torch.nn.Module):
        def forward(self, *args):
            return forward(*args)

    return Given()


def lists(grads):
    return [None if grad is None else grad.tolist() for grad in grads]


def leaf(torch, *values):
    return torch.tensor(values, requires_grad=True)


def hooked(torch, forward):
    module = module_of(torch, forward)
    seen = []
    module.register_backward_hook(
        lambda module, grad_input, grad_output: seen.append((lists(grad_input), lists(grad_output)))
    )
    return module, seen


def call(module, *args, warning):
    with pytest.warns(FutureWarning) as caught:
        result = module(*args)
    assert [str(each.message) for each in caught] == [warning]
    return result


def test_a_result_in_a_dictionary_is_found_with_a_warning(torch):
    module, seen = hooked(torch, lambda x: {"text": "text", "y": x * 2})
    expected = (
        "Using non-full backward hooks on a Module that does not return a single Tensor or a "
        f"tuple of Tensors{DEPRECATED}some of the grad_output. {PLEASE}"
    )
    result = call(module, leaf(torch, 1.0), warning=expected)
    result["y"].backward(torch.tensor([3.0]))
    assert seen == [([[6.0], None], [[3.0]])]


def test_it_does_not_keep_its_module_alive(torch):
    module, _ = hooked(torch, lambda x: x.exp())
    result = module(torch.zeros(1, requires_grad=True) * 1)
    del module
    gc.collect()
    with pytest.raises(RuntimeError, match="You are trying to call the hook of a dead Module!"):
        result.backward(torch.tensor([3.0]))


def pre_hook(module, state_dict, prefix, *rest):
    module.loaded_from = sorted(state_dict)


def test_a_hook_with_its_module_does_not_keep_it_alive(torch):
    linear = torch.nn.Linear(1, 1)
    linear._register_load_state_dict_pre_hook(pre_hook, with_module=True)
    gone = weakref.ref(linear)
    gc.disable()
    try:
        del linear
        assert gone() is None
    finally:
        gc.enable()


# What a full hook, or a pre-hook, may do with (grad,).
DOES = {
    "nothing": lambda grads: None,
    "the same": lambda grads: grads,
    "another": lambda grads: (grads[0] * 3,),
    "a bare tensor": lambda grads: grads[0][None] * 5,
    "a list": lambda grads: [grads[0] + 1],
    "in place": lambda grads: grads[0].zero_() is None or None,
    "None": lambda grads: (None,),
    "too many": lambda grads: (grads[0], grads[0]),
    "a wrong shape": lambda grads: (grads[0][:1],),
    "a wrong type": lambda grads: (grads[0].double(),),
    "no tensor": lambda grads: (3.0,),
}


def through_gates(torch, does, kind, others):
    """Send a gradient through two hooked modules, and report what the hooks saw and changed.

    With `others` the gates have hooks of their own that do nothing: not even the same then runs.
    """
    seen, x = [], torch.tensor([1.0, -2.0], requires_grad=True)
    first, second = torch.nn.Tanh(), torch.nn.Sigmoid()
    for module in (first, second):
        module.register_full_backward_hook(lambda module, *grads: seen.append(str(grads)))
    register = getattr(first, f"register_full_backward_{kind}")
    register(lambda module, grads, *_: seen.append(str(grads)) or does(grads))
    y = second(first(x * 2))
    gate, gates = y.grad_fn, 0
    while others and gate is not None:
        if gate.name() == "BackwardHookFunctionBackward":
            gate.register_prehook(lambda grads: None)
            gate.register_hook(lambda grads, grad_outputs: None)
            gates += 1
        gate = gate.next_functions[0][0] if gate.next_functions else None
    assert gates == 4 * others
    try:
        y.backward(torch.tensor([1.0, 0.5]))
    except (RuntimeError, TypeError) as error:
        return seen, repr(error)
    return seen, str(x.grad)


@pytest.mark.parametrize("kind", ["hook", "pre_hook"])
@pytest.mark.parametrize("does", DOES.values(), ids=DOES)
def test_a_gate_does_the_same_with_and_without_other_hooks(torch, does, kind):
    alone = through_gates(torch, does, kind, others=False)
    assert alone == through_gates(torch, does, kind, others=True)
    assert len(alone[0]) >= 2


def test_full_hooks_leave_inputs_that_need_no_gradient_without_one(torch):
    class Sum(torch.nn.Module):
        def forward(self, x, other):
            assert x.requires_grad and not other.requires_grad
            assert str(x.grad_fn).startswith(
                "<torch.autograd.function.BackwardHookFunctionBackward object at 0x"
            )
            return x + other

    module, seen = Sum(), []
    module.register_full_backward_hook(lambda module, inputs, outputs: seen.append(inputs[1]))
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        inference = torch.ones(2)
    view = torch.ones(2).view(2).requires_grad_().requires_grad_(False)
    for other in (torch.ones(2), inference, view):
        module(x, other).sum().backward()
    assert [each.tolist() for each in seen] == [[0.0, 0.0]] * 3


def test_full_hooks_let_go_of_what_they_saw(torch):
    module, seen = torch.nn.Linear(1, 1), []
    module.register_full_backward_hook(lambda *given: seen.append(weakref.ref(given[2][0])))
    with pytest.warns(UserWarning, match="no input"):
        y = module(torch.ones(1))
        y.sum().backward()
    assert y.requires_grad and seen[0]() is None


def test_a_list_that_a_hook_returned_may_still_be_changed(torch):
    def change(module, *grads):
        grads[0][0] = grads[0][0] + 1

    act, x = torch.nn.Identity(), leaf(torch, 1.0)
    act.register_full_backward_pre_hook(lambda module, grads: [grads[0] * 2])
    act.register_full_backward_pre_hook(change)
    act.register_full_backward_hook(lambda module, grads, _: [grads[0] * 10])
    act.register_full_backward_hook(change)
    act(x).backward(torch.tensor([3.0]))
    assert x.grad.tolist() == [71.0]


def test_linear_takes_what_its_attributes_are(torch):
    class Doubled(torch.nn.Linear):
        def __getattr__(self, name):
            return super().__getattr__(name) * 2

    x = torch.tensor([[1.0, 2.0]])
    plain, doubled = torch.nn.Linear(2, 1), Doubled(2, 1)
    for each in (plain, doubled):
        each.load_state_dict({"weight": x, "bias": x[0, :1]})
    assert plain(x).item() == 6 and doubled(x).item() == 12
    del plain.weight
    plain.weight = x * 3  # a result, so it isn't a parameter
    assert plain(x).item() == 16
    plain.bias = None
    assert plain(x).item() == 15


def test_it_takes_floating_point_tensors_only(torch):
    with pytest.raises(AttributeError, match="'int' object has no attribute 'detach'"):
        torch.nn.Parameter(3)
    text = "Only Tensors of floating point and complex dtype can require gradients"
    with pytest.raises(RuntimeError, match=text):
        torch.nn.Parameter(torch.tensor([1]))


def test_arguments_of_to_that_make_no_sense_are_refused(torch):
    layer, double = torch.nn.Linear(1, 1), torch.float64
    for given in (("cpu", 3), ([],)):
        with pytest.raises(TypeError):
            layer.to(*given)
    for named in ({"color": "red"}, {"dtype": "high"}):
        with pytest.raises(TypeError):
            layer.to(**named)
    assert layer.to(double, True).weight.dtype is double


def test_a_pre_hooks_odd_return_is_told_after_that_no_input_needs_a_gradient(torch):
    layer = torch.nn.Linear(2, 2)
    layer.register_full_backward_pre_hook(lambda module, grad_output: {"a": 1})
    result = layer(torch.ones(1, 2))
    with pytest.warns(UserWarning, match="no inputs require gradients"), pytest.raises(KeyError):
        result.sum().backward()


def test_a_parameter_with_a_history_is_refused(torch):
    parameter = torch.nn.Parameter(torch.ones(1), requires_grad=False)
    parameter.mul_(torch.ones(1, requires_grad=True))
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor to parameter 'weight'"):
        torch.nn.Module().register_parameter("weight", parameter)


def test_a_buffer_that_is_not_saved_stays_so(torch):
    module = torch.nn.Module()
    module.register_buffer("held", torch.ones(1), persistent=False)
    module.held = torch.zeros(1)
    module.other = torch.nn.Buffer(torch.ones(1), persistent=False)
    module.other = torch.nn.Buffer(torch.zeros(1), persistent=False)
    assert module.held.item() == 0 and not module.state_dict()
