"""Typical wrong answers and differently written right ones, for the exercises of lesson 05."""

from contextlib import ExitStack, suppress
from functools import partial

import minigrad as torch
from minigrad import nn


def _hooked(place, hook, model, batch):
    with place.register_forward_hook(hook):
        return model(batch)


def _transplant(model, name, donor, batch):
    organ = []
    place = model.get_submodule(name)
    _hooked(place, lambda module, args, output: organ.append(output.detach().clone()), model, donor)
    return _hooked(place, lambda module, args, output: organ[0], model, batch)


def _transplant_put(put, keep=torch.Tensor.clone):
    def transplant(model, name, donor, batch):
        place, organ = model.get_submodule(name), []
        _hooked(place, lambda module, args, output: organ.append(keep(output)), model, donor)
        return _hooked(place, lambda module, args, output: put(organ[0], output), model, batch)

    return transplant


def _transplant_straight(model, name, donor, batch):
    place = model.get_submodule(name)
    organ = place(donor)
    return _hooked(place, lambda module, args, output: organ.clone(), model, batch)


def _transplant_donor_as_input(model, name, donor, batch):
    with model.get_submodule(name).register_forward_pre_hook(lambda module, args: donor):
        return model(batch)


def _transplant_first_for_all(kept):
    def transplant(model, name, donor, batch):
        place = model.get_submodule(name)
        if name not in kept:
            kept[name] = []
            _hooked(place, lambda m, args, output: kept[name].append(output.clone()), model, donor)
        return _hooked(place, lambda m, args, output: kept[name][0], model, batch)

    return transplant


def _transplant_overwrites(model, name, donor, batch):
    with torch.no_grad():
        batch.copy_(donor)
    return model(batch)


def _transplant_clears(model, name, donor, batch):
    result = _transplant(model, name, donor, batch)
    model.get_submodule(name)._forward_hooks.clear()
    return result


def _transplant_in_eval(model, name, donor, batch):
    return _transplant(model.eval(), name, donor, batch)


class _Graft:
    """A hook that takes at its first call, and gives at the second."""

    def __init__(self):
        self.organ = None

    def __call__(self, module, args, output):
        if self.organ is not None:
            return self.organ
        self.organ = output.detach().clone()


def _transplant_by_an_object(model, name, donor, batch):
    with dict(model.named_modules())[name].register_forward_hook(_Graft()):
        with torch.no_grad():
            model(donor)
        return model(batch)


def _transplant_finally(model, name, donor, batch):
    place = dict(model.named_modules())[name]
    kept = {}

    def take(module, args, output):
        kept["organ"] = output.clone()

    def give(module, args, output):
        return kept["organ"]

    handle = place.register_forward_hook(take)
    try:
        model(donor)
    finally:
        handle.remove()
    handle = place.register_forward_hook(give)
    try:
        return model(batch)
    finally:
        handle.remove()


def _transplant_one_hook(model, name, donor, batch):
    kept = []

    def hook(module, args, output):
        if kept:
            return kept[0]
        kept.append(output.clone())

    with model.get_submodule(name).register_forward_hook(hook):
        model(donor)
        return model(batch)


def _transplant_no_return_in_hook(model, name, donor, batch):
    place, organ = model.get_submodule(name), []
    _hooked(place, lambda module, args, output: organ.append(output), model, donor)

    def give(module, args, output):
        output = organ[0]  # noqa: F841

    return _hooked(place, give, model, batch)


def _transplant_returns_nothing(model, name, donor, batch):
    _transplant(model, name, donor, batch)


def _transplant_by_attribute(model, name, donor, batch):
    place, organ = getattr(model, name), []
    _hooked(place, lambda module, args, output: organ.append(output), model, donor)
    return _hooked(place, lambda module, args, output: organ[0], model, batch)


def _transplant_swapped(model, name, donor, batch):
    return _transplant(model, name, batch, donor)


def _transplant_leaks(model, name, donor, batch):
    organ, place = [], model.get_submodule(name)
    with place.register_forward_hook(lambda module, args, output: organ.append(output)):
        model(donor)
    place.register_forward_hook(lambda module, args, output: organ[0])
    return model(batch)


def _transplant_only_organ(model, name, donor, batch):
    organ, place = [], model.get_submodule(name)
    with place.register_forward_hook(lambda module, args, output: organ.append(output)):
        model(donor)
    return organ[0]


def _transplant_list(model, name, donor, batch):
    return [_transplant(model, name, donor, batch)]


def _transplant_in_tuple(model, name, donor, batch):
    organ, place = [], model.get_submodule(name)
    with place.register_forward_hook(lambda module, args, output: organ.append(output)):
        model(donor)
    with place.register_forward_hook(lambda module, args, output: (organ[0],)):
        return model(batch)


def _transplant_pre_hook(model, name, donor, batch):
    organ, place = [], model.get_submodule(name)
    with place.register_forward_hook(lambda module, args, output: organ.append(output)):
        model(donor)
    with place.register_forward_pre_hook(lambda module, args: organ[0]):
        return model(batch)


def _floats(value):
    fits = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if fits else value


def _to_double(module, args, kwargs):
    return tuple(_floats(a) for a in args), {k: _floats(v) for k, v in kwargs.items()}


def _to_double_loop(module, args, kwargs):
    new = []
    for value in args:
        if isinstance(value, torch.Tensor) and torch.is_floating_point(value):
            value = value.to(torch.float64)
        new.append(value)
    for key in kwargs:
        kwargs[key] = _floats(kwargs[key])
    return tuple(new), kwargs


def _to_double_args_only(module, args, kwargs):
    return tuple(_floats(a) for a in args)


def _to_double_forgets_kwargs(module, args, kwargs):
    return tuple(_floats(a) for a in args), kwargs


def _to_double_forgets_args(module, args, kwargs):
    return args, {k: _floats(v) for k, v in kwargs.items()}


def _to_double_all_tensors(module, args, kwargs):
    def convert(value):
        return value.double() if isinstance(value, torch.Tensor) else value

    return tuple(map(convert, args)), {k: convert(v) for k, v in kwargs.items()}


def _to_double_everything(module, args, kwargs):
    return tuple(a.double() for a in args), {k: v.double() for k, v in kwargs.items()}


def _to_double_no_return(module, args, kwargs):
    args = tuple(_floats(a) for a in args)
    kwargs = {k: _floats(v) for k, v in kwargs.items()}


def _to_double_list(module, args, kwargs):
    return [[_floats(a) for a in args], {k: _floats(v) for k, v in kwargs.items()}]


def _to_double_list_inside(module, args, kwargs):
    return [_floats(a) for a in args], {k: _floats(v) for k, v in kwargs.items()}


def _to_double_pair_reversed(module, args, kwargs):
    return {k: _floats(v) for k, v in kwargs.items()}, tuple(_floats(a) for a in args)


def _to_double_in_place(module, args, kwargs):
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            value.data = value.data.double()


def _to_double_with(convert):
    def to_double(module, args, kwargs):
        return tuple(map(convert, args)), {key: convert(v) for key, v in kwargs.items()}

    return to_double


def _singles(value):
    single = isinstance(value, torch.Tensor) and value.dtype == torch.float32
    return value.double() if single else value


def _numbers(value):
    return torch.tensor(value).double() if isinstance(value, float) else _floats(value)


def _through_numpy(value):
    fits = isinstance(value, torch.Tensor) and value.is_floating_point()
    return torch.from_numpy(value.numpy().astype("float64")) if fits else value


def _detached(value):
    return _floats(value.detach() if isinstance(value, torch.Tensor) else value)


def _asks_whom_it_can(value):
    asks = getattr(value, "is_floating_point", None)
    return value.double() if asks is not None and asks() else value


def _to_double_first(module, args, kwargs):
    return (*map(_floats, args[:1]), *args[1:]), {key: _floats(v) for key, v in kwargs.items()}


def _to_double_drops(module, args, kwargs):
    tensors = tuple(_floats(a) for a in args if isinstance(a, torch.Tensor))
    return tensors, {key: _floats(v) for key, v in kwargs.items()}


def _to_double_one_try(module, args, kwargs):
    args, kwargs = list(args), dict(kwargs)
    try:
        for store, keys in ((args, range(len(args))), (kwargs, list(kwargs))):
            for key in keys:
                if store[key].is_floating_point():
                    store[key] = store[key].double()
    except AttributeError:
        pass
    return tuple(args), kwargs


def _to_double_module(module, args, kwargs):
    module.float()
    return args, kwargs


def _to_double_two_arguments(module, args):
    return tuple(_floats(a) for a in args)


def _activations(model, batch):
    store = {}

    def hook_for(name):
        def hook(module, args, output):
            store[name] = output.clone().detach()

        return hook

    handles = [m.register_forward_hook(hook_for(n)) for n, m in model.named_modules()]
    try:
        model(batch)
    finally:
        for handle in handles:
            handle.remove()
    return store


def _activations_no_grad(model, batch):
    store = {}
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        for name, module in model.named_modules():

            def hook(module, args, output, name=name):
                store[name] = output.clone()

            stack.enter_context(module.register_forward_hook(hook))
        model(batch)
    return store


def _activations_one_hook(model, batch):
    names, store = {module: name for name, module in model.named_modules()}, {}

    def hook(module, args, output):
        store[names[module]] = output.detach().clone()

    handles = [module.register_forward_hook(hook) for module in names]
    try:
        model(batch)
    finally:
        for handle in handles:
            handle.remove()
    return store


def _activations_swallows(model, batch):
    try:
        return _activations(model, batch)
    except RuntimeError:
        return {}


def _activations_clears(model, batch):
    try:
        return _activations_with(_own, removes=False)(model, batch)
    finally:
        for module in model.modules():
            module._forward_hooks.clear()


def _activations_by_forward(model, batch):
    twin = _Namespace(model)
    return _activations(twin, batch)


class _Namespace:
    """Lets `_activations` go around the call of a model."""

    def __init__(self, model):
        self.named_modules, self.forward = model.named_modules, model.forward

    def __call__(self, batch):
        return self.forward(batch)


def _activations_in_one_dict(store):
    def activations(model, batch):
        store.update(_activations(model, batch))
        return store

    return activations


def _activations_of_inputs(model, batch):
    store, handles = {}, []
    for name, module in model.named_modules():

        def hook(module, args, output, name=name):
            store[name] = args[0].detach().clone()

        handles.append(module.register_forward_hook(hook))
    model(batch)
    for handle in handles:
        handle.remove()
    return store


def _classes(model):
    return [(type(module).__name__, module) for module in model.modules()]


def _leaves(model):
    return [(name, m) for name, m in model.named_modules() if not list(m.children())]


def _activations_buggy(model, batch):
    store = {}
    for name, module in model.named_modules():

        def hook(module, args, output):
            store[name] = output  # noqa: B023

        module.register_forward_hook(hook)
    model(batch)
    return store


def _activations_with(keep, which=nn.Module.named_modules, removes=True, early=False):
    def activations(model, batch):
        store = {}

        def hook(name, module, args, output):
            store[name] = keep(output)

        handles = [m.register_forward_hook(partial(hook, n)) for n, m in which(model)]
        if not early:
            model(batch)
        if removes:
            for handle in handles:
                handle.remove()
        return store

    return activations


def _own(output):
    return output.detach().clone()


def _activations_late(model, batch):
    model(batch)
    return _activations_with(_own, early=True)(model, batch)


def _activations_no_return(model, batch):
    _activations(model, batch)


def _without_root(model):
    return [(name, module) for name, module in model.named_modules() if name]


def _activations_as_list(model, batch):
    return list(_activations(model, batch).values())


class _Done(Exception):
    pass


def _stop(model, name, batch):
    result = None

    def hook(module, args, output):
        nonlocal result
        result = output
        raise _Done

    handle = model.get_submodule(name).register_forward_hook(hook)
    try:
        model(batch)
    except _Done:
        pass
    finally:
        handle.remove()
    return result


def _stop_with(model, name, batch):
    def hook(module, args, output):
        raise _Done(output)

    with model.get_submodule(name).register_forward_hook(hook):
        try:
            model(batch)
        except _Done as done:
            (output,) = done.args
            return output


def _stop_runs_all(model, name, batch):
    kept = []
    with model.get_submodule(name).register_forward_hook(lambda m, a, output: kept.append(output)):
        model(batch)
    return kept[0]


def _stop_swallows(model, name, batch):
    kept = []

    def hook(module, args, output):
        kept.append(output)
        raise _Done

    with model.get_submodule(name).register_forward_hook(hook):
        try:
            model(batch)
        except Exception:
            return kept[0] if kept else None


def _stop_detached(model, name, batch):
    return _stop(model, name, batch).detach()


def _stop_leaks(model, name, batch):
    def hook(module, args, output):
        raise _Done(output)

    model.get_submodule(name).register_forward_hook(hook)
    try:
        model(batch)
    except _Done as done:
        return done.args[0]


def _stop_leaks_on_error(model, name, batch):
    def hook(module, args, output):
        raise _Done(output)

    handle = model.get_submodule(name).register_forward_hook(hook)
    try:
        model(batch)
    except _Done as done:
        handle.remove()
        return done.args[0]


def _stop_at_input(model, name, batch):
    def hook(module, args):
        raise _Done(args[0])

    with model.get_submodule(name).register_forward_pre_hook(hook):
        try:
            model(batch)
        except _Done as done:
            return done.args[0]


def _stop_not_caught(model, name, batch):
    def hook(module, args, output):
        raise _Done(output)

    with model.get_submodule(name).register_forward_hook(hook):
        return model(batch)


def _stop_returns_nothing(model, name, batch):
    _stop(model, name, batch)


def _stop_returns_error(model, name, batch):
    def hook(module, args, output):
        raise _Done(output)

    with model.get_submodule(name).register_forward_hook(hook):
        try:
            model(batch)
        except _Done as done:
            return done


def _stop_with_pythons_own(kind, mine=None):
    def stop_at(model, name, batch):
        kept, error = [], kind("stop") if mine else None

        def hook(module, args, output):
            kept.append(output)
            raise error or kind

        with model.get_submodule(name).register_forward_hook(hook):
            try:
                model(batch)
            except kind as came:
                if mine and not mine(came, error):
                    raise
                return kept[0] if kept else None

    return stop_at


def _stop_first(model, name, batch):
    def hook(module, args, output):
        raise _Done(output)

    handles = [module.register_forward_hook(hook) for module in model.modules()]
    try:
        model(batch)
    except _Done as done:
        return done.args[0]
    finally:
        for handle in handles:
            handle.remove()


def _stop_cuts_off(model, name, batch):
    for child in ("head",):
        setattr(model, child, nn.Identity())
    return model(batch)


def _stop_by_attribute(model, name, batch):
    with getattr(model, name).register_forward_hook(lambda *_: None):
        return model(batch)


def _stop_suppressed(model, name, batch):
    class Enough(Exception):
        pass

    outputs = {}

    def hook(module, args, output):
        outputs[name] = output
        raise Enough

    with suppress(Enough), model.get_submodule(name).register_forward_hook(hook):
        model(batch)
    return outputs[name]


def _stop_by_module_only(model, name, batch):
    return model.get_submodule(name)(batch)


ANSWERS = {
    "05.1": {
        "wrong": [
            ("leaves out the hooks of model itself", ("a", "because forward runs no hooks")),
            ("recorded for the backward pass", ("b", "because no_grad switches hooks off")),
            ("Is this a call?", ("d", "because the model is not called, only a part of it")),
            ("Add your reason", "c"),
            ("letters a, b, c, d", ("e", "because all of them fire")),
            ("letters a, b, c, d", 3),
        ],
        "right": [
            ("c", "because body is never called there, only its forward runs"),
            ("(C)", "Writing .forward goes around the hooks of this module."),
            ["c", "it bypasses the steps before and after"],
            ("c", "the code that looks for hooks is in the wrapper, and this line goes around it"),
        ],
    },
    "05.2": {
        "wrong": [
            ("whole run on the donor", lambda model, name, donor, batch: model(donor)),
            ("plain run on batch", lambda model, name, donor, batch: model(batch)),
            ("plain run on batch", _transplant_no_return_in_hook),
            ("changed places", _transplant_swapped),
            ("works in place", _transplant_put(lambda organ, _: organ, torch.Tensor.detach)),
            ("was added", _transplant_put(torch.add)),
            ("Every row got", _transplant_put(lambda organ, o: organ.mean(0).expand_as(o))),
            ("past whatever comes before", _transplant_straight),
            ("past whatever comes before", _transplant_donor_as_input),
            ("still put in what the first", _transplant_first_for_all({})),
            ("wrote into what it was given", _transplant_overwrites),
            ("somebody else's", _transplant_clears),
            ("another mode", _transplant_in_eval),
            ("A hook of yours stayed", _transplant_leaks),
            ("output of the inner module itself", _transplant_only_organ),
            ("It returned None", _transplant_returns_nothing),
            ("the model's result, a tensor", _transplant_list),
            ("a path through the tree", _transplant_by_attribute),
            ("the other end", _transplant_pre_hook),
            ("gives a tuple now", _transplant_in_tuple),
            ("without brackets", torch.ones(2, 2)),
        ],
        "right": [
            _transplant,
            _transplant_finally,
            _transplant_one_hook,
            _transplant_by_an_object,
            _transplant_put(lambda organ, output: organ),
        ],
    },
    "05.3": {
        "wrong": [
            ("gives back both", _to_double_args_only),
            ("by keyword is still float32", _to_double_forgets_kwargs),
            ("by position is still float32", _to_double_forgets_args),
            ("only some were converted", _to_double_first),
            ("It stops at the first", _to_double_one_try),
            ("stayed as it was", _to_double_with(_singles)),
            ("integers were converted", _to_double_all_tensors),
            ("number has become a tensor", _to_double_with(_numbers)),
            ("NumPy knows nothing of", _to_double_with(_through_numpy)),
            ("history is lost", _to_double_with(_detached)),
            ("an argument is missing", _to_double_drops),
            ("Not every argument is a tensor", _to_double_everything),
            ("Nothing was converted", _to_double_no_return),
            ("changed the module's parameters", _to_double_module),
            ("has to return a tuple", _to_double_list),
            ("args is a list now", _to_double_list_inside),
            ("in this order", _to_double_pair_reversed),
            ("caller's own tensor", _to_double_in_place),
            ("called with 3 arguments", _to_double_two_arguments),
        ],
        "right": [_to_double, _to_double_loop, _to_double_with(_asks_whom_it_can)],
    },
    "05.4": {
        "wrong": [
            ("in front of those that its", ["C", "B", "D", "E", "A"]),
            ("in which they were registered", "ABCDE"),
            ("not in front of those of others", "DCBEA"),
            ("does not take its place", ["C", "D", "E", "A"]),
            ("called once here", "CCDBCEA"),
            ("net is not finished before", "CDBAE"),
            ("When is net[1] called?", ["C", "E", "D", "B", "A"]),
            ("Is net finished", ["C", "A", "D", "B", "E"]),
            ("before anything inside", "D B C E A"),
            ("is one missing", ["C", "D", "B", "A"]),
            ("does not belong", ["C", "D", "B", "F", "A"]),
            ("begins at the root", "AEBDC"),
        ],
        "right": [["C", "D", "B", "E", "A"], "C D B E A", "c, d, b, e, a"],
    },
    "05.5": {
        "wrong": [
            ("looks it up when it runs", _activations_buggy),
            ("still shared when", _activations_with(lambda output: output.detach())),
            ("hang on their graph", _activations_with(lambda output: output)),
            ("hang on their graph", _activations_with(lambda output: output.clone())),
            ("A hook of yours stayed", _activations_with(_own, removes=False)),
            ("your hooks stay behind", _activations_with(_own)),
            ("never came out", _activations_swallows),
            ("somebody else's", _activations_clears),
            ("the dict that the first one", _activations_in_one_dict({})),
            ("the inputs of the modules", _activations_of_inputs),
            ("names of classes", _activations_with(_own, which=_classes)),
            ("one level deep", _activations_with(_own, which=nn.Module.named_children)),
            ("parts of their own", _activations_with(_own, which=_leaves)),
            ("The model itself is missing", _activations_with(_own, which=_without_root)),
            ("model.forward goes around", _activations_by_forward),
            ("nothing in the dict", _activations_late),
            ("It has to return a dict", _activations_as_list),
            ("no tensor", _activations_with(lambda output: output.tolist())),
            ("It returned None", _activations_no_return),
        ],
        "right": [_activations, _activations_no_grad, _activations_one_hook],
    },
    "05.6": {
        "wrong": [
            ("The head ran as well", _stop_runs_all),
            ("its error was swallowed", _stop_swallows),
            ("its error was swallowed", _stop_with_pythons_own(RuntimeError)),
            ("an error like yours", _stop_with_pythons_own(StopIteration)),
            (
                "an error like yours",
                _stop_with_pythons_own(Exception, lambda came, own: "stop" in str(came)),
            ),
            ("whichever that is", _stop_first),
            ("taken apart", _stop_cuts_off),
            ("a path through the tree", _stop_by_attribute),
            ("lost its graph", _stop_detached),
            ("The hook stayed", _stop_leaks),
            ("your hook stays behind", _stop_leaks_on_error),
            ("what goes into the module", _stop_at_input),
            ("nobody caught it", _stop_not_caught),
            ("It returned None", _stop_returns_nothing),
            ("The output itself", _stop_returns_error),
            ("was never called", _stop_by_module_only),
        ],
        "right": [
            _stop,
            _stop_with,
            _stop_suppressed,
            _stop_with_pythons_own(Exception, lambda came, own: came is own),
        ],
    },
}
