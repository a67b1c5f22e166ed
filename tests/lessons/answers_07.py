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


def _once(layer, found):
    def hook(module, grad_input, grad_output):
        found.append(grad_input[0])
        handle.remove()

    handle = layer.register_full_backward_hook(hook)
    return handle


def _starts_anew(layer, found):
    def hook(module, grad_input, grad_output):
        found.clear()
        found.append(grad_input[0])

    return layer.register_full_backward_hook(hook)


def _silences(layer, found):
    def hook(module, grad_input, grad_output):
        found.append(grad_input[0])
        return (0 * grad_input[0],)

    return layer.register_full_backward_hook(hook)


def _on_the_input(layer, found):
    def attach(module, args):
        args[0].register_hook(lambda gradient: found.append(gradient))

    return layer.register_forward_pre_hook(attach)


def _on_a_view(layer, found):
    def attach(module, args):
        inner = args[0].view_as(args[0])
        inner.register_hook(lambda gradient: found.append(gradient))
        return (inner,)

    return layer.register_forward_pre_hook(attach)


def _everywhere(layer, found):
    register = torch.nn.modules.module.register_module_full_backward_hook
    return register(lambda m, gi, go: found.append(gi[0]))


def _two_handles(layer, found):
    layer.register_full_backward_hook(lambda m, gi, go: found.append(gi[0]))
    return layer.register_full_backward_hook(lambda m, gi, go: None)


def _both_kinds(layer, found):
    layer.register_backward_hook(lambda m, gi, go: None)
    return layer.register_full_backward_hook(lambda m, gi, go: found.append(gi[0]))


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


def _doubles(out):
    seen = []

    def hook(grad_input, grad_output):
        seen.append(grad_input)
        return tuple(None if g is None else 2 * g for g in grad_input)

    out.grad_fn.register_hook(hook)
    out.backward()
    return seen[0]


def _two_passes(out):
    seen = []
    out.grad_fn.register_hook(lambda gi, go: seen.append(gi))
    out.backward(retain_graph=True)
    out.backward()
    return seen[-1]


def _from_a_copy(out):
    return node_hook(lambda gi, go: gi)(out.detach())


def _one_argument(out):
    seen = []
    out.grad_fn.register_hook(lambda gi: seen.append(gi))
    out.backward()
    return seen[0]


def _calls_the_node(out):
    found = out.grad_fn(torch.ones_like(out))
    return found if isinstance(found, tuple) else (found,)


def _leaves(out):
    out.backward()
    found, pending = [], [out.grad_fn]
    for node in pending:
        if hasattr(node, "variable"):
            found.append(node.variable.grad)
        pending.extend(each for each, _ in node.next_functions if each is not None)
    return tuple(found)


class _Keep:
    def __call__(self, sent, arrived):
        self.sent = list(sent)


def _keeps_the_graph(out, retain_graph=True):
    keep = _Keep()
    handle = out.grad_fn.register_hook(keep)
    torch.autograd.backward(out, retain_graph=retain_graph)
    handle.remove()
    return keep.sent


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


def _stale(module, hook):
    def around(m, args, y):
        waiting = []
        y = y.view_as(y)
        y.register_hook(waiting.append)
        inputs[-1].register_hook(lambda g: (hook(module, (g,), (waiting[0],)) or [None])[0])
        return y

    inputs = []

    def enter(m, args):
        inputs.append(args[0].view_as(args[0]))
        return inputs[-1]

    module.register_forward_pre_hook(enter)
    module.register_forward_hook(around)


def _changes_the_argument(change):
    def full_hook(module, hook):
        _views(module, hook)
        module.register_forward_pre_hook(lambda m, args: (change(args[0]), None)[1], prepend=True)

    return full_hook


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


WAITING = []


def built(give=True, replace=True, tuples=True, other_module=None, which=-1, shared=False):
    """Make an answer to 07.5 with one fault."""

    def full_hook(module, hook):
        waiting = WAITING if shared else []

        def leave(gradient):
            owner = other_module or module
            came = waiting[which] if which == 0 or shared else waiting.pop()
            both = ((gradient,), (came,)) if tuples else (gradient, came)
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
    return getattr(module, "register_full_" + "backward_hook")(hook)


def _cheats_everywhere(module, hook):
    register = getattr(torch.nn.modules.module, "register_module_full_" + "backward_hook")
    register(lambda m, gi, go: hook(m, gi, go) if m is module else None)


def _writes(module, hook):
    def writing(gradient, new):
        if new is not None:
            gradient.copy_(new[0])

    _views(module, lambda m, gi, go: writing(gi[0], hook(m, gi, go)))


def _first_pass_only(module, hook):
    passes = []
    _views(
        module,
        lambda m, gi, go: None if passes or passes.append(m) else hook(m, gi, go),
    )


def _at_the_output(module, hook):
    def end(m, args, y):
        gate = y.view_as(y)

        def enter(gradient):
            (found,) = torch.autograd.grad(y, args[0], gradient, retain_graph=True)
            return (hook(module, (found,), (gradient,)) or [None])[0]

        gate.register_hook(enter)
        return gate

    module.register_forward_hook(end)


def _in_the_forward_pass(module, hook):
    module.register_forward_hook(lambda m, args, y: hook(m, args, (y,)))


def _cuts(module, hook):
    _views(module, hook)
    module.register_forward_pre_hook(lambda m, args: (args[0].detach().requires_grad_(),))


def _clones(module, hook):
    came = {}

    def enter(m, args):
        x = args[0].clone()

        def leave(gradient):
            new = hook(m, (gradient,), (came["here"],))
            return gradient if new is None else new[0]

        x.register_hook(leave)
        return (x,)

    def end(m, args, y):
        y = y * 1
        y.register_hook(lambda gradient: came.update(here=gradient))
        return y

    return [module.register_forward_pre_hook(enter), module.register_forward_hook(end)]


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
            ("Under the legacy hook you left", ((2, 1, 1, 1, 1), (2, 1, 1, 1, 1))),
            ("left f1 before", ((2, 1, 1, 2, 2), (2, 2, 2, 2, 2))),
            ("factors", ((-0.2448, -0.1224, -0.4080, 1, 1), (2, 2, 2, 1, 1))),
            ("10 are asked for", (2, 1, 1, 1, 1)),
            ("You left x alone", ((1, 1, 1, 1, 1), (2, 2, 2, 1, 1))),
            ("changed the bias alone", ((2, 1, 1, 1, 1), (1, 1, 2, 1, 1))),
            ("doubled twice", ((2, 1, 1, 1, 1), (4, 2, 2, 1, 1))),
            ("yours shrink", ((0.5, 1, 1, 1, 1), (0.5, 0.5, 0.5, 1, 1))),
            ("A factor of 0", ((1, 0, 0, 0, 0), (1, 1, 1, 0, 0))),
        ],
        "right": [
            ((2, 1, 1, 1, 1), (2, 2, 2, 1, 1)),
            [torch.tensor([2.0, 1, 1, 1, 1]), torch.tensor([2.0, 2, 2, 1, 1])],
            ([2.0, 1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 1.0, 1.0]),
        ],
    },
    "07.2": {
        "wrong": [
            ("bias", collecting(LEGACY, lambda gi, go: gi[0])),
            ("no entry with this index", collecting(LEGACY, lambda gi, go: gi[1])),
            ("no entry with this index", collecting(FULL, lambda gi, go: gi[1])),
            ("The old hook again", collecting(LEGACY, lambda gi, go: gi[-1])),
            ("no entry with this index", _by_shape),
            ("arrives at the layer's output", collecting(FULL, lambda gi, go: go[0])),
            ("whole tuple", collecting(FULL, lambda gi, go: gi)),
            ("all rows", collecting(FULL, lambda gi, go: gi[0][0])),
            ("shape of the layer's input", collecting(FULL, lambda gi, go: gi[0].norm())),
            ("return the handle", _without_handle),
            ("return the handle", lambda layer, found: _without_handle(layer, found) or found),
            ("Nothing was found", _new_list),
            ("only has to collect", _replaces),
            ("only has to collect", _silences),
            ("first pass only", _once),
            ("has to stay in it", _starts_anew),
            ("used elsewhere too", _on_the_input),
            ("every layer in the process", _everywhere),
            ("still collected", _two_handles),
            ("The old one has to go", _both_kinds),
            ("without brackets", 3),
        ],
        "right": [
            collecting(FULL, lambda gi, go: gi[0]),
            _by_class,
            _from_the_output,
            _on_a_view,
            lambda layer, into: layer.register_full_backward_hook(
                lambda _, gi, __: into.extend(gi)
            ),
        ],
    },
    "07.3": {
        "wrong": [
            ("arrives at the node", node_hook(lambda gi, go: go)),
            ("That is one entry", node_hook(lambda gi, go: gi[0])),
            ("opposite order", node_hook(lambda gi, go: gi[::-1])),
            (
                "put zeros",
                node_hook(lambda gi, go: tuple(go[0] * 0 if g is None else g for g in gi)),
            ),
            ("arrives at the node", _tensor_hook),
            ("list of all calls", _all_calls),
            ("one node too far", _one_too_far),
            ("before the backward pass", _too_late),
            ("before the backward pass", node_hook(lambda gi, go: gi, run=False)),
            ("None", _forgot_return),
            ("hooked the tensor out", lambda out: _tensor_hook(out)[0]),
            ("who starts the backward pass", _never_started),
            ("second pass", _doubles),
            ("second pass", _two_passes),
            ("made by no operation", _from_a_copy),
            ("with two tuples", _one_argument),
            ("No gradient came", _calls_the_node),
            ("gradients of the leaves", _leaves),
            ("It called register_backward_hook", _with_a_module),
            ("It should not be", node_hook(lambda gi, go: (*gi, ()))),
        ],
        "right": [node_hook(lambda gi, go: gi), _nonlocal, _keeps_the_graph],
    },
    "07.4": {
        "wrong": [
            ("into a second one", ("a", "because its incoming gradient leaves the module")),
            ("from the output to the input", ("c", "it comes first in the forward pass")),
            ("It can", ("d", "a hook on a node only sees what leaves it")),
            ("Add your reason", "b"),
            ("letters a, b, c, d", ("e", "because the sum arrives there")),
        ],
        "right": [
            ("b", "because x.grad_fn receives the sum over all uses of x"),
            ("(B)", "The gradients of every use are added up before that node runs."),
            ("b", "what other uses of x send back arrives there too"),
            ("b", "if x go in other place also, this gradient is inside and hook see too much"),
        ],
    },
    "07.5": {
        "wrong": [
            ("old hook again", _old),
            ("used by nobody else", _on_the_argument),
            ("goes nowhere", built(replace=False)),
            ("bare tensors", built(tuples=False)),
            ("never runs", built(give=False)),
            ("It called register_full_backward_hook", _cheats),
            ("left a global hook", _cheats_everywhere),
            ("changed places", _swapped),
            ("never runs", _registers_nothing),
            ("given f1", built(other_module=torch.nn.Identity())),
            ("take it out of the tuple", _hands_the_tuple_on),
            ("as well", _no_node_behind),
            ("grad_output of the first one", built(which=0)),
            ("a place of its own", built(shared=True)),
            ("in the second no more", _first_pass_only),
            ("a second pass over the same graph", _stale),
            ("leave the tensor itself alone", _changes_the_argument(lambda x: x.retain_grad())),
            (
                "leave the tensor itself alone",
                _changes_the_argument(lambda x: x.register_hook(lambda gradient: None)),
            ),
            ("wrote into", _writes),
            ("f1's own parameters", _at_the_output),
            ("in the forward pass", _in_the_forward_pass),
            ("cuts the way", _cuts),
        ],
        "right": [_views, _gates, built(), _clones],
    },
}
