"""Typical wrong answers and differently written right ones, for the exercises of lesson 09."""

import minigrad as torch

FULL, LEGACY = "register_full_backward_hook", "register_backward_hook"


def on_module(kind, pick):
    """Make a watcher for 09.3 that hooks the module itself."""

    def watch_output(module, found):
        def hook(module, grad_input, grad_output):
            found.append(pick(grad_input, grad_output))

        return getattr(module, kind)(hook)

    return watch_output


def forward_hook(attach, handle=True):
    """Make a watcher for 09.3 from what it does with the output."""

    def watch_output(module, found):
        result = module.register_forward_hook(lambda module, args, y: attach(args, y, found))
        return result if handle else None

    return watch_output


def _pre_hook(module, found):
    return module.register_full_backward_pre_hook(lambda m, go: found.append(go[0]))


def _own_list(module, found):
    found = []

    def attach(module, args, y):
        y.register_hook(found.append)

    return module.register_forward_hook(attach)


def _retains(module, found):
    def attach(module, args, y):
        y.retain_grad()
        found.append(y.grad)

    return module.register_forward_hook(attach)


def _by_class(module, found):
    class Watcher:
        def __call__(self, module, args, y):
            y.register_hook(self.note)

        def note(self, gradient):
            found.append(gradient.clone())

    return module.register_forward_hook(Watcher())


def _on_a_view(module, found):
    def attach(module, args, y):
        y = y * 1
        y.register_hook(lambda gradient: found.append(gradient))
        return y

    return module.register_forward_hook(attach)


def _always_call(module, found):
    def attach(module, args, kwargs, output):
        output.register_hook(found.append)

    return module.register_forward_hook(attach, with_kwargs=True)


def _by_node(module, found):
    def attach(module, args, y):
        y.grad_fn.register_prehook(lambda gradients: found.append(gradients[0].detach().clone()))

    return module.register_forward_hook(attach)


def _in_a_list(module, found):
    return [_by_class(module, found)]


def _everywhere(module, found):
    def attach(module, args, y):
        y.register_hook(found.append)

    return torch.nn.modules.module.register_module_forward_hook(attach)


def _only(condition):
    def attach(module, args, y, found):
        if condition(module):
            y.register_hook(found.append)

    def watch_output(module, found):
        return module.register_forward_hook(lambda m, args, y: attach(m, args, y, found))

    return watch_output


def _on_hooks_of(kind, *keeps):
    def watch_output(module, found):
        def attach(module, args, y):
            for keep in keeps:
                getattr(y, kind)(lambda gradient, keep=keep: keep(found, gradient))

        return module.register_forward_hook(attach)

    return watch_output


def _halves(found, gradient):
    found.append(gradient.clone())
    gradient.mul_(0.5)


def _new_leaf(module, found):
    def attach(module, args, y):
        y = y.detach().requires_grad_()
        y.register_hook(found.append)
        return y

    return module.register_forward_hook(attach)


def ready(choose=lambda p: p.requires_grad, clears=True, counts_all=False, kind=None, gives=False):
    """Make an answer to 09.5 with at most one fault."""

    def when_ready(module, hook):
        waiting = [p for p in module.parameters() if choose(p)]
        number = len(list(module.parameters())) if counts_all else len(waiting)
        left = {"count": number}

        def count(_):
            left["count"] -= 1
            if left["count"] == 0:
                if clears:
                    left["count"] = number
                result = hook(module)
                return True if gives else result

        for parameter in waiting:
            getattr(parameter, kind or "register_post_accumulate_grad_hook")(count)

    return when_ready


def _full(module, hook):
    return module.register_full_backward_hook(lambda module, gi, go: hook(module))


def _at_each(module, hook):
    for parameter in module.parameters():
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(lambda p: hook(module))


def _multi(module, hook):
    parameters = [p for p in module.parameters() if p.requires_grad]
    torch.autograd.graph.register_multi_grad_hook(parameters, lambda gradients: hook(module))


def _first_only(module, hook):
    first = next(module.parameters())
    first.register_post_accumulate_grad_hook(lambda p: hook(module))


def _parameter_as_module(module, hook):
    return _set_of_names(module, hook, give=lambda p: p)


def _set_of_names(module, hook, give=None):
    names = {name for name, p in module.named_parameters() if p.requires_grad}
    missing = set(names)

    def note(name, parameter):
        missing.discard(name)
        if not missing:
            missing.update(names)
            hook(give(parameter) if give else module)

    for name, p in module.named_parameters():
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(lambda p, name=name: note(name, p))


class _Counter:
    def __init__(self, module, hook):
        self.module, self.hook, self.come = module, hook, 0
        self.parameters = [p for p in module.parameters() if p.requires_grad]
        for p in self.parameters:
            p.register_post_accumulate_grad_hook(self)

    def __call__(self, parameter):
        self.come = (self.come + 1) % len(self.parameters)
        if self.come == 0:
            self.hook(self.module)


def _calls_at_once(module, hook):
    hook(module)


def _at_the_output(module, hook):
    module.register_forward_hook(lambda m, args, y: y.register_hook(lambda g: hook(m)) and None)


def _forward(module, hook):
    module.register_forward_hook(lambda module, args, y: hook(module))


def _as_long_as(holds, before=lambda parameters: None):
    """Make an answer to 09.5 that calls at each parameter for which something holds."""

    def when_ready(module, hook):
        waiting = [p for p in module.parameters() if p.requires_grad]
        arrived = []

        def look(parameter):
            arrived.append(parameter)
            if holds(arrived, waiting):
                hook(module)

        module.register_forward_pre_hook(lambda module, args: before(waiting))
        for p in waiting:
            p.register_post_accumulate_grad_hook(look)

    return when_ready


def _empties(parameters):
    for p in parameters:
        p.grad = None


def _no_grad_is_none(arrived, waiting):
    return all(p.grad is not None for p in waiting)


def _last_only(module, hook):
    *_, last = (p for p in module.parameters() if p.requires_grad)
    last.register_post_accumulate_grad_hook(lambda p: hook(module))


def _late(module, hook):
    waiting, count = [p for p in module.parameters() if p.requires_grad], [0]

    def look(parameter):
        count[0] += 1
        if count[0] > len(waiting):
            count[0] = 1
            hook(module)

    for p in waiting:
        p.register_post_accumulate_grad_hook(look)


def _removes(module, hook):
    parameters = [p for p in module.parameters() if p.requires_grad]
    waiting = list(parameters)

    def look(parameter):
        waiting.remove(parameter)
        if not waiting:
            waiting.extend(parameters)
            hook(module)

    for p in parameters:
        p.register_post_accumulate_grad_hook(look)


def _counts_passes(module, hook):
    passes = {p: 0 for p in module.parameters() if p.requires_grad}

    def look(parameter):
        passes[parameter] += 1
        if len(set(passes.values())) == 1:
            hook(module)

    for p in passes:
        p.register_post_accumulate_grad_hook(look)


ANSWERS = {
    "09.1": {
        "wrong": [
            ("until 2022", (12.0, None, 0)),
            ("answered for backward", (120.0, 120.0, 1)),
            ("And you answered", (12.0, 12.0, 1)),
            ("neither zero", (120.0, 0, 0)),
            ("nor False", (120.0, False, 0)),
            ("Was anything", (120.0, None, 1)),
            ("a number: how many", (120.0, None, "accumulated")),
            ("another order", (None, 120.0, 0)),
            ("value of x**3", (80.0, None, 0)),
            ("exponent as a factor", (40.0, None, 0)),
            ("You added", (22.0, None, 0)),
            ("runs once", (1200.0, None, 0)),
            ("None in quotes", (120.0, "None", 0)),
            ("its sign does not", (-120.0, None, 0)),
            ("the slope of x**3", (60.0, None, 0)),
            ("3 are asked for", (120.0, None)),
        ],
        "right": [
            (120.0, None, 0),
            [120, None, 0],
            (torch.tensor(120.0), None, 0),
            ("120.0", None, "0"),
        ],
    },
    "09.2": {
        "wrong": [
            ("not even a warning", ("a", "because plain data build no gate at the input")),
            ("it was called", ("b", "one layer has only one operation")),
            ("three lines", ("d", "hooks count only when they are there before forward")),
            ("Add your reason", "c"),
            ("letters a, b, c, d", ("e", "because the sum is missing in it")),
        ],
        "right": [
            ("c", "because __call__ runs the hooks, and forward does not"),
            ("(C)", "Going to forward directly leads past the gates."),
            ("c", "because _call_impl, not forward, sets up backward hooks"),
            "c) The module itself was never called, so its gates were not built.",
        ],
    },
    "09.3": {
        "wrong": [
            ("case 9 itself", on_module(FULL, lambda gi, go: go[0])),
            ("case 9 itself", on_module(FULL, lambda gi, go: gi[0])),
            ("case 9 itself", _pre_hook),
            ("wrong hook", on_module(LEGACY, lambda gi, go: go[0])),
            (
                "goes into the module",
                forward_hook(lambda a, y, found: a[0].register_hook(found.append) and None),
            ),
            ("output itself", forward_hook(lambda a, y, found: found.append(y))),
            ("return nothing", forward_hook(lambda a, y, found: y.register_hook(found.append))),
            (
                "return the handle",
                forward_hook(lambda a, y, found: y.register_hook(found.append) and None, False),
            ),
            ("Nothing was ever found", _own_list),
            ("where no gradient exists", _retains),
            ("returned a list", _in_a_list),
            ("watches every module", _everywhere),
            ("behind a Linear only", _only(lambda m: isinstance(m, torch.nn.Linear))),
            ("in eval mode", _only(lambda m: m.training)),
            ("come out differently", _on_hooks_of("register_hook", _halves)),
            ("comes in twice", _on_hooks_of("register_hook", list.append, list.append)),
            ("stay there", _on_hooks_of("register_hook", lambda found, g: found.__init__([g]))),
            ("is for leaves", _on_hooks_of("register_post_accumulate_grad_hook", list.append)),
            ("without a history", _new_leaf),
            ("a weight", lambda module, found: module.weight.register_hook(found.append)),
            ("called with three things", lambda m, found: m.register_forward_hook(lambda m, y: 0)),
            ("last operation", on_module(LEGACY, lambda gi, go: gi[0])),
            ("without brackets", [5.0, 0.0]),
        ],
        "right": [
            forward_hook(lambda a, y, found: y.register_hook(found.append) and None),
            _by_class,
            _on_a_view,
            _always_call,
            _by_node,
        ],
    },
    "09.4": {
        "wrong": [
            (
                "plain data",
                ["enter B", "weight B", "leave B", "enter A", "weight A", "leave A"],
            ),
            (
                "B be left at once",
                ["enter B", "leave B", "weight B", "enter A", "leave A", "weight A"],
            ),
            (
                "forward pass",
                ["enter A", "leave A", "weight A", "enter B", "leave B", "weight B"],
            ),
            (
                "B's own multiplication",
                ["enter B", "leave B", "enter A", "leave A", "weight B", "weight A"],
            ),
            ("is one missing", ["enter B", "leave B", "enter A", "leave A"]),
            (
                "does not belong",
                ["enter B", "weight B", "exit B", "enter A", "leave A", "weight A"],
            ),
            ("a list of names", 6),
            ("have the two exchanged", "enter B, leave B, weight B, enter A, weight A, leave A"),
            ("inside of B", "enter B, weight B, enter A, leave A, weight A, leave B"),
            ("inside of its layer", "enter B, weight B, leave B, weight A, enter A, leave A"),
            ("here one is twice", "enter B, weight B, leave B, enter A, leave A, leave A"),
            ("Of which layer", ["enter", "weight", "leave", "enter", "leave", "weight"]),
            (
                "alphabet",
                sorted(f"{what} {n}" for what in ("enter", "leave", "weight") for n in "AB"),
            ),
        ],
        "right": [
            ["enter B", "weight B", "leave B", "enter A", "leave A", "weight A"],
            "enter B -> weight B -> leave B -> enter A -> leave A -> weight A",
        ],
    },
    "09.5": {
        "wrong": [
            ("case 10 itself", _full),
            ("the last of them is not", _multi),
            ("once for each parameter", _at_each),
            ("one parameter only", _first_only),
            ("never again", ready(clears=False)),
            ("takes no hook", ready(choose=lambda p: True)),
            ("its gradient never comes", ready(counts_all=True)),
            ("comes after that", ready(kind="register_hook")),
            ("has to return None", ready(gives=True)),
            ("given the module", _parameter_as_module),
            ("yourself, at once", _calls_at_once),
            ("in the forward pass", _forward),
            ("output comes first", _at_the_output),
            ("one parameter only", _last_only),
            ("for each parameter: start", _as_long_as(lambda come, all: len(come) >= len(all))),
            ("does not say that it is new", _as_long_as(_no_grad_is_none)),
            ("do not add up", _as_long_as(_no_grad_is_none, before=_empties)),
            ("two parameters", _as_long_as(lambda come, _: len(come) == 2 and not come.clear())),
            ("one parameter too late", _late),
            ("Keep names, numbers", _removes),
            ("without brackets", 3),
        ],
        "right": [ready(), _set_of_names, _Counter, _counts_passes],
    },
}
