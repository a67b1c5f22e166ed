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


ANSWERS = {
    "09.1": {
        "wrong": [
            ("until 2022", (12.0, None, 0)),
            ("answered for backward", (120.0, 120.0, 1)),
            ("answered for backward", (12.0, 12.0, 1)),
            ("not zero", (120.0, 0, 0)),
            ("Was anything", (120.0, None, 1)),
            ("the slope of x**3", (80.0, None, 0)),
            ("the slope of x**3", (1200.0, None, 0)),
            ("tuple", [120.0, None, 0]),
            ("numbers", "120, None, 0"),
        ],
        "right": [(120.0, None, 0), (120, None, 0), (torch.tensor(120.0), None, 0)],
    },
    "09.2": {
        "wrong": [
            ("not even a warning", ("a", "because plain data build no gate at the input")),
            ("it was called", ("b", "one layer has only one operation")),
            ("three lines", ("d", "hooks count only when they are there before forward")),
            ("add your reason", "c"),
            ("Say a little more", ("c", "forward is wrong")),
            ("does not yet say", ("c", "because of the third line's forward")),
            ("letters a, b, c, d", ("e", "because the sum is missing in it")),
        ],
        "right": [
            ("c", "because __call__ runs the hooks, and forward does not"),
            ("(C)", "Going to forward directly leads past the gates."),
        ],
    },
    "09.3": {
        "wrong": [
            ("case 8 itself", on_module(FULL, lambda gi, go: go[0])),
            ("case 8 itself", on_module(FULL, lambda gi, go: gi[0])),
            ("case 8 itself", _pre_hook),
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
            ("without brackets", [5.0, 0.0]),
        ],
        "right": [
            forward_hook(lambda a, y, found: y.register_hook(found.append) and None),
            _by_class,
            _on_a_view,
            _always_call,
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
                ["enter B", "leave B", "weight B", "enter A", "weight A", "leave A"],
            ),
            ("is one missing", ["enter B", "leave B", "enter A", "leave A"]),
            (
                "does not belong",
                ["enter B", "weight B", "exit B", "enter A", "leave A", "weight A"],
            ),
            ("a list of names", 6),
        ],
        "right": [
            ["enter B", "weight B", "leave B", "enter A", "leave A", "weight A"],
            "enter B -> weight B -> leave B -> enter A -> leave A -> weight A",
        ],
    },
    "09.5": {
        "wrong": [
            ("case 9 itself", _full),
            ("the last of them is not", _multi),
            ("once for each parameter", _at_each),
            ("one parameter only", _first_only),
            ("never again", ready(clears=False)),
            ("takes no hook", ready(choose=lambda p: True)),
            ("its gradient never comes", ready(counts_all=True)),
            ("comes after that", ready(kind="register_hook")),
            ("has to return None", ready(gives=True)),
            ("given the module", _parameter_as_module),
            ("not from the backward pass", _calls_at_once),
            ("without brackets", 3),
        ],
        "right": [ready(), _set_of_names, _Counter],
    },
}
