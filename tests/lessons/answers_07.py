"""Typical wrong answers and differently written right ones, for the exercises of lesson 07."""

import minigrad as torch

FULL, LEGACY = "register_full_backward_hook", "register_backward_hook"


def collecting(kind, pick):
    """Make a helper for 07.2 that registers one kind of hook and picks something in it."""

    def collect(layer, found):
        def hook(module, grad_input, grad_output):
            found.append(pick(grad_input, grad_output))

        return getattr(layer, kind)(hook)

    return collect


def _by_shape(layer, found):
    def hook(module, grad_input, grad_output):
        fitting = [g for g in grad_input if g.shape[-1] == module.in_features]
        found.append(fitting[0])

    return layer.register_backward_hook(hook)


def _by_class(layer, found):
    class Collector:
        def __call__(self, module, grad_input, grad_output):
            (gradient,) = grad_input
            found.append(gradient.clone())

    return layer.register_full_backward_hook(Collector(), prepend=True)


def _from_the_output(layer, found):
    def hook(module, grad_output):
        rows = grad_output[0] if grad_output[0].dim() == 2 else grad_output[0].unsqueeze(0)
        gradient = rows @ module.weight
        found.append(gradient if grad_output[0].dim() == 2 else gradient[0])

    return layer.register_full_backward_pre_hook(hook)


def _replaces(layer, found):
    def hook(module, grad_input, grad_output):
        found.append(grad_input[0])
        return grad_input[0]

    return layer.register_full_backward_hook(hook)


def _without_handle(layer, found):
    layer.register_full_backward_hook(lambda m, gi, go: found.append(gi[0]))


def _new_list(layer, found):
    def hook(module, grad_input, grad_output):
        nonlocal found
        found = [*found, grad_input[0]]

    return layer.register_full_backward_hook(hook)


def node_hook(keep, run=True):
    """Make an answer to 07.3 that keeps something of what a node's hook is given."""

    def last_operation(out):
        seen = []
        out.grad_fn.register_hook(lambda gi, go: seen.append(keep(gi, go)))
        if run:
            out.backward()
        return seen[0]

    return last_operation


def _too_late(out):
    seen = []
    out.backward()
    out.grad_fn.register_hook(lambda gi, go: seen.append(gi))
    return seen[0]


def _all_calls(out):
    seen = []
    out.grad_fn.register_hook(lambda gi, go: seen.append(gi))
    out.backward()
    return seen


def _tensor_hook(out):
    seen = []
    out.register_hook(lambda gradient: seen.append(gradient))
    out.backward()
    return (seen[0],)


def _never_started(out):
    seen = []
    out.grad_fn.register_hook(lambda gi, go: seen.append(gi))
    return seen


def _one_too_far(out):
    seen = []
    out.grad_fn.next_functions[0][0].register_hook(lambda gi, go: seen.append(gi))
    out.backward()
    return tuple(seen[0])


def _forgot_return(out):
    seen = []
    out.grad_fn.register_hook(lambda gi, go: seen.append(gi))
    out.backward()


def _with_a_module(out):
    module = torch.nn.Identity()
    seen = []
    module.register_backward_hook(lambda m, gi, go: seen.append(gi))
    module(out).backward()
    return seen[0]


def _nonlocal(out):
    kept = None

    def hook(grad_inputs, grad_outputs):
        nonlocal kept
        kept = grad_inputs

    handle = out.grad_fn.register_hook(hook)
    out.sum().backward()
    handle.remove()
    return kept


def _views(module, hook):
    notes = {}

    def enter(m, args):
        (x,) = args
        x = x.view_as(x)

        def leave(gradient):
            new = hook(module, (gradient,), notes.pop("grad_output"))
            if new is not None:
                return new[0]
            return None

        x.register_hook(leave)
        return x

    def end(m, args, y):
        y = y.view_as(y)
        y.register_hook(lambda gradient: notes.update(grad_output=(gradient,)))
        return y

    module.register_forward_pre_hook(enter)
    module.register_forward_hook(end)


class _Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, action):
        ctx.action = action
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.action(gradient), None


def _gates(module, hook):
    waiting = []

    def note(gradient):
        waiting.append(gradient)
        return gradient

    def leave(gradient):
        new = hook(module, (gradient,), (waiting.pop(),))
        return gradient if new is None else new[0]

    module.register_forward_pre_hook(lambda m, args: (_Gate.apply(args[0], leave),))
    module.register_forward_hook(lambda m, args, y: _Gate.apply(y, note))


def _on_the_argument(module, hook):
    def forward_hook(m, args, y):
        waiting = []
        y = y.view_as(y)
        y.register_hook(lambda gradient: waiting.append((gradient,)))

        def leave(gradient):
            returned = hook(module, (gradient,), waiting[0])
            return returned and returned[0]

        args[0].register_hook(leave)
        return y

    module.register_forward_hook(forward_hook)


def _old(module, hook):
    module.register_forward_hook(
        lambda m, args, y: y.grad_fn.register_hook(lambda gi, go: hook(module, gi, go)) and None
    )


def built(give=True, replace=True, tuples=True, other_module=None):
    """Make an answer to 07.5 with one fault."""

    def full_hook(module, hook):
        waiting = []

        def leave(gradient):
            owner = other_module or module
            both = ((gradient,), (waiting.pop(),)) if tuples else (gradient, waiting.pop())
            new = hook(owner, *both)
            return new[0] if replace and new is not None else None

        def enter(m, args):
            x = args[0].view_as(args[0])
            x.register_hook(leave)
            return (x,) if give else None

        def end(m, args, y):
            y = y.view_as(y)
            y.register_hook(waiting.append)
            return y if give else None

        module.register_forward_pre_hook(enter)
        module.register_forward_hook(end)

    return full_hook


def _hands_the_tuple_on(module, hook):
    waiting = []

    def enter(module, args):
        x = args[0].view_as(args[0])
        x.register_hook(lambda gradient: hook(module, (gradient,), waiting.pop()))
        return x

    module.register_forward_pre_hook(enter)
    module.register_forward_hook(
        lambda m, args, y: y.register_hook(lambda gradient: waiting.append((gradient,))) and None
    )


def _no_node_behind(module, hook):
    waiting = []

    def enter(module, args):
        x = args[0].view_as(args[0])
        x.register_hook(lambda gradient: (hook(module, (gradient,), waiting.pop()) or [None])[0])
        return x

    module.register_forward_pre_hook(enter)
    module.register_forward_hook(
        lambda m, args, y: y.register_hook(lambda gradient: waiting.append((gradient,))) and None
    )


def _cheats(module, hook):
    return module.register_full_backward_hook(hook)


def _swapped(module, hook):
    return _views(module, lambda m, gi, go: hook(m, go, gi))


def _registers_nothing(module, hook):
    return hook


ANSWERS = {
    "07.1": {
        "wrong": [
            ("other way round", ((2, 2, 2, 1, 1), (2, 1, 1, 1, 1))),
            ("hook on f1", ((2, 2, 2, 1, 1), (2, 2, 2, 2, 2))),
            ("Under the full hook", ((2, 2, 2, 1, 1), (2, 2, 2, 1, 1))),
            ("Under the legacy hook", ((2, 1, 1, 1, 1), (2, 1, 1, 1, 1))),
            ("left f1 before", ((2, 1, 1, 2, 2), (2, 2, 2, 2, 2))),
            ("factors", ((-0.2448, -0.1224, -0.4080, 1, 1), (2, 2, 2, 1, 1))),
            ("10 are asked for", (2, 1, 1, 1, 1)),
            ("entry [0][0]", ((1, 1, 1, 1, 1), (2, 2, 2, 1, 1))),
        ],
        "right": [
            ((2, 1, 1, 1, 1), (2, 2, 2, 1, 1)),
            ([2.0, 1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 1.0, 1.0]),
        ],
    },
    "07.2": {
        "wrong": [
            ("bias", collecting(LEGACY, lambda gi, go: gi[0])),
            ("Another index", collecting(LEGACY, lambda gi, go: gi[1])),
            ("Another index", collecting(LEGACY, lambda gi, go: gi[-2])),
            ("entries do not", _by_shape),
            ("arrives at the layer's output", collecting(FULL, lambda gi, go: go[0])),
            ("whole tuple", collecting(FULL, lambda gi, go: gi)),
            ("handle", _without_handle),
            ("never found anything", _new_list),
            ("only has to collect", _replaces),
            ("without brackets", 3),
        ],
        "right": [collecting(FULL, lambda gi, go: gi[0]), _by_class, _from_the_output],
    },
    "07.3": {
        "wrong": [
            ("arrives at the node", node_hook(lambda gi, go: go)),
            ("type tuple", node_hook(lambda gi, go: gi[0])),
            ("arrives at the node", _tensor_hook),
            ("list of all calls", _all_calls),
            ("one node too far", _one_too_far),
            ("before the backward pass", _too_late),
            ("before the backward pass", node_hook(lambda gi, go: gi, run=False)),
            ("None", _forgot_return),
            ("hooked the tensor out", lambda out: _tensor_hook(out)[0]),
            ("who starts the backward pass", _never_started),
            ("without 'register_backward_hook'", _with_a_module),
        ],
        "right": [node_hook(lambda gi, go: gi), _nonlocal],
    },
    "07.4": {
        "wrong": [
            ("into a second one", ("a", "because its incoming gradient leaves the module")),
            ("from the output to the input", ("c", "it comes first in the forward pass")),
            ("It can", ("d", "a hook on a node only sees what leaves it")),
            ("add your reason", "b"),
            ("Say a little more", ("b", "the sum")),
            ("does not yet say", ("b", "because x is used elsewhere too")),
            ("letters a, b, c, d", ("e", "because the sum arrives there")),
        ],
        "right": [
            ("b", "because x.grad_fn receives the sum over all uses of x"),
            ("(B)", "The gradients of every use are added up before that node runs."),
            ("b", "what other uses of x send back arrives there too"),
        ],
    },
    "07.5": {
        "wrong": [
            ("old hook again", _old),
            ("used by nobody else", _on_the_argument),
            ("goes nowhere", built(replace=False)),
            ("bare tensors", built(tuples=False)),
            ("never runs", built(give=False)),
            ("without 'register_full_backward_hook'", _cheats),
            ("pair of grad_input and grad_output", _swapped),
            ("never runs", _registers_nothing),
            ("given f1", built(other_module=torch.nn.Identity())),
            ("take it out of the tuple", _hands_the_tuple_on),
            ("as well", _no_node_behind),
        ],
        "right": [_views, _gates, built()],
    },
}
