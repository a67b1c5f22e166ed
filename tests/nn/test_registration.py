"""What a module registers when attributes are assigned, and what it refuses."""

from __future__ import annotations

import pytest


def parameter(torch, *values):
    return torch.nn.Parameter(torch.tensor(values or (1.0,)))


def full_module(torch):
    module = torch.nn.Module()
    module.weight = parameter(torch)
    module.child = torch.nn.Identity()
    module.register_buffer("mean", torch.zeros(1))
    module.register_parameter("none", None)
    return module


def test_attributes_go_to_their_tables(torch):
    module = full_module(torch)
    module.number = 3
    assert list(module._parameters) == ["weight", "none"]
    assert list(module._modules) == ["child"]
    assert list(module._buffers) == ["mean"]
    assert module.__dict__["number"] == 3
    assert not {"weight", "child", "mean", "none"} & set(vars(module))
    assert module.none is None and isinstance(module.child, torch.nn.Identity)


def test_a_name_moves_to_the_table_of_what_is_assigned_last(torch):
    module = full_module(torch)
    module.mean = parameter(torch)
    module.child = parameter(torch)
    assert list(module._parameters) == ["weight", "none", "mean", "child"]
    assert not module._buffers and not module._modules
    del module.child
    module.child = 3
    module.child = torch.nn.Identity()
    assert "child" in module._modules and "child" not in vars(module)


def test_none_empties_a_place_and_keeps_it(torch):
    module = full_module(torch)
    module.weight = module.child = module.mean = None
    assert module._parameters == {"weight": None, "none": None}
    assert module._modules == {"child": None} and module._buffers == {"mean": None}


def test_deleting_unregisters(torch):
    module = full_module(torch)
    module.number = 3
    for name in ("weight", "child", "mean", "number"):
        delattr(module, name)
        assert not hasattr(module, name)
    with pytest.raises(AttributeError, match="'Module' object has no attribute 'weight'"):
        del module.weight


def test_wrong_values_are_refused(torch):
    module = full_module(torch)
    messages = {
        "weight": "cannot assign 'int' as parameter 'weight' (torch.nn.Parameter or None expected)",
        "child": "cannot assign 'int' as child module 'child' (torch.nn.Module or None expected)",
        "mean": "cannot assign 'int' as buffer 'mean' "
        "(torch.nn.Buffer, torch.Tensor or None expected)",
    }
    for name, message in messages.items():
        with pytest.raises(TypeError) as error:
            setattr(module, name, 3)
        assert str(error.value).startswith(message)
    with pytest.raises(TypeError, match=r"cannot assign 'torch\.FloatTensor' as parameter 'none'"):
        module.none = torch.ones(1)


@pytest.mark.parametrize(
    ("register", "kind", "message"),
    [
        (
            lambda m, t: m.register_buffer(3, None),
            TypeError,
            "buffer name should be a string. Got int",
        ),
        (
            lambda m, t: m.register_buffer("", None),
            KeyError,
            'buffer name can\'t be empty string ""',
        ),
        (lambda m, t: m.register_buffer("a.b", None), KeyError, 'buffer name can\'t contain "."'),
        (
            lambda m, t: m.register_buffer("weight", None),
            KeyError,
            "attribute 'weight' already exists",
        ),
        (
            lambda m, t: m.register_buffer("x", 3),
            TypeError,
            "cannot assign 'int' object to buffer 'x' (torch Tensor or None required)",
        ),
        (
            lambda m, t: m.register_parameter("a.b", None),
            KeyError,
            'parameter name can\'t contain "."',
        ),
        (
            lambda m, t: m.register_parameter("child", None),
            KeyError,
            "attribute 'child' already exists",
        ),
        (
            lambda m, t: m.register_parameter("x", t.ones(1)),
            TypeError,
            "cannot assign 'torch.FloatTensor' object to parameter 'x' "
            "(torch.nn.Parameter or None required)",
        ),
        (lambda m, t: m.add_module("x", 3), TypeError, "int is not a Module subclass"),
        (
            lambda m, t: m.add_module(3, t.nn.ReLU()),
            TypeError,
            "module name should be a string. Got int",
        ),
        (lambda m, t: m.add_module("a.b", m), KeyError, 'module name can\'t contain ".", got: a.b'),
        (lambda m, t: m.add_module("", m), KeyError, 'module name can\'t be empty string ""'),
        (lambda m, t: m.register_module("mean", m), KeyError, "attribute 'mean' already exists"),
    ],
)
def test_wrong_registrations_are_refused(torch, register, kind, message):
    with pytest.raises(kind) as error:
        register(full_module(torch), torch)
    assert error.value.args[0] == message


@pytest.mark.parametrize(
    ("assign", "message"),
    [
        (
            lambda m, t: setattr(m, "x", parameter(t)),
            "cannot assign parameters before Module.__init__() call",
        ),
        (
            lambda m, t: setattr(m, "x", t.nn.ReLU()),
            "cannot assign module before Module.__init__() call",
        ),
        (
            lambda m, t: m.register_buffer("x", None),
            "cannot assign buffer before Module.__init__() call",
        ),
        (
            lambda m, t: m.register_parameter("x", None),
            "cannot assign parameter before Module.__init__() call",
        ),
        (lambda m, t: m.missing, "'Hasty' object has no attribute 'missing'"),
    ],
)
def test_nothing_is_registered_before_init(torch, assign, message):
    class Hasty(torch.nn.Module):
        def __init__(self):
            assign(self, torch)

    with pytest.raises(AttributeError) as error:
        Hasty()
    assert str(error.value) == message


def test_init_takes_no_arguments(torch):
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        torch.nn.Module(3)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'size'"):
        torch.nn.Module(size=3)


def test_a_property_that_fails_names_itself(torch):
    class Broken(torch.nn.Module):
        @property
        def size(self):
            return self.missing

    with pytest.raises(AttributeError, match="'Broken' object has no attribute 'size'"):
        _ = Broken().size


def test_dir_lists_what_is_registered_but_no_numbers(torch):
    names = dir(full_module(torch))
    assert {"weight", "child", "mean", "none", "training", "forward"} <= set(names)
    assert names == sorted(names)
    assert "0" not in dir(torch.nn.Sequential(torch.nn.ReLU()))


def test_a_buffer_may_be_left_out_of_the_state(torch):
    module = torch.nn.Module()
    module.register_buffer("kept", torch.ones(1))
    module.register_buffer("left_out", torch.ones(1), persistent=False)
    assert list(module.state_dict()) == ["kept"]
    module.left_out = torch.zeros(1)
    assert list(module.state_dict()) == ["kept"]
    module.register_buffer("left_out", torch.ones(1))
    assert list(module.state_dict()) == ["kept", "left_out"]


def test_a_buffer_object_registers_itself(torch):
    module = torch.nn.Module()
    module.mean = torch.nn.Buffer(torch.zeros(2))
    module.count = torch.nn.Buffer(torch.zeros(1), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["mean", "count"]
    assert list(module.state_dict()) == ["mean"]
    assert not module.mean.requires_grad


def test_a_buffer_object_is_a_plain_tensor_with_a_mark(torch):
    buffer = torch.nn.Buffer(torch.ones(2))
    assert type(buffer) is torch.Tensor and isinstance(buffer, torch.nn.Buffer)
    assert not isinstance(torch.ones(2), torch.nn.Buffer)
    assert not isinstance(buffer * 2, torch.nn.Buffer)


def test_a_buffer_object_does_not_take_a_name_that_is_taken(torch):
    module = torch.nn.Module()
    module.plain = torch.ones(2)
    with pytest.raises(KeyError, match="attribute 'plain' already exists"):
        module.plain = torch.nn.Buffer(torch.zeros(2))
    assert module.plain.tolist() == [1.0, 1.0] and not list(module.buffers())


def test_other_bases_are_initialized_if_the_class_asks_for_it(torch):
    class Labeled:
        def __init__(self, label):
            self.label = label

    class Asks(torch.nn.Module, Labeled):
        call_super_init = True

    class DoesNotAsk(torch.nn.Module, Labeled):
        pass

    assert Asks("a label").label == "a label"
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        DoesNotAsk("a label")
    assert not hasattr(DoesNotAsk(), "label")
