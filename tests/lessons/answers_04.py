"""Typical wrong answers and differently written right ones, for the exercises of lesson 04."""

import numpy as np

import minigrad as torch

# 04.2


def _factory(hook_of):
    """Make a norm_clipper from a function of grad and limit."""

    def norm_clipper(limit):
        def hook(grad):
            return hook_of(grad, limit)

        return hook

    return norm_clipper


def _norm_in_place(grad, limit):
    if grad.norm() > limit:
        grad.mul_(limit / grad.norm())


def _norm_in_place_returned(grad, limit):
    return grad.mul_(min(1.0, limit / (grad.norm().item() + 1e-12)))


def _norm_no_return(grad, limit):
    if grad.norm() > limit:
        grad = grad * limit / grad.norm()


def _norm_float_division(grad, limit):
    return grad * min(1.0, limit / grad.norm().item())


def _norm_is_returned(grad, limit):
    return grad.norm().clamp(max=limit)


def _norm_list(grad, limit):
    return [entry * min(1.0, limit / max(float(grad.norm()), 1e-9)) for entry in grad.tolist()]


def _norm_squared(grad, limit):
    size = (grad**2).sum()
    return grad * limit / size if size > limit else grad


def _hook_not_factory(grad):
    return grad * (1.0 / torch.tensor(grad).norm())


def _norm_other_way_round(grad, limit):
    norm = grad.norm()
    return grad * (limit / norm) if 0 < norm < limit else grad


def _norm_by_row(grad, limit):
    rows = grad.reshape(-1, grad.shape[-1] if grad.dim() else 1)
    norms = (rows * rows).sum(1, keepdim=True).sqrt()
    return (rows * (limit / norms).clamp(max=1.0)).reshape(grad.shape)


def _norm_mean(grad, limit):
    size = (grad**2).mean() ** 0.5
    return grad * limit / size if size > limit else grad


def _norm_of_the_latest(limit, latest=[0.0]):  # noqa: B006
    latest[0] = limit
    return lambda grad: _norm_clamped_factor(grad, latest[0])


def _norm_of_the_first(limit):
    norms = []

    def hook(grad):
        norms.append(grad.norm())
        return grad * (limit / norms[0]) if norms[0] > limit else grad

    return hook


class _Clips:
    """A clipper that is a class, and its hook an object."""

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, grad):
        length = (grad * grad).sum().sqrt()
        return None if length <= self.limit else grad.div(length).mul(self.limit)


def _norm_clamped_factor(grad, limit):
    return grad * (limit / grad.norm()).clamp(max=1.0)


def _norm_with_max(grad, limit):
    return grad / max(1.0, float((grad**2).sum()) ** 0.5 / limit)


# 04.3


def _log_colleague(tensors):
    sizes = {}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad: sizes.setdefault(name, grad.norm()))  # noqa: B023
    return sizes


def _log_late_name(tensors):
    sizes = {}
    for name, tensor in tensors.items():

        def hook(grad):
            sizes[name] = grad.norm().item()  # noqa: B023

        tensor.register_hook(hook)
    return sizes


def _log_returns(tensors):
    sizes = {}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: sizes.setdefault(name, grad.norm()))
    return sizes


def _log_returns_float(tensors):
    sizes = {}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: sizes.setdefault(name, grad.norm().item()))
    return sizes


def _log_first_only(tensors):
    sizes = {}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda g, n=name: sizes.setdefault(n, g.norm().item()) and None)
    return sizes


def _log_with_hook(note):
    """Make a log_sizes whose hook calls note(sizes, name, grad)."""

    def log(tensors):
        sizes = {}
        for name, tensor in tensors.items():
            tensor.register_hook(lambda grad, name=name: note(sizes, name, grad))
        return sizes

    return log


def _log_too_early(tensors):
    return {name: tensor.grad.norm() for name, tensor in tensors.items()}


def _log_post_accumulate(tensors):
    sizes = {}
    for name, tensor in tensors.items():
        tensor.register_post_accumulate_grad_hook(
            lambda t, name=name: sizes.update({name: t.grad.norm()})
        )
    return sizes


def _log_taken_off(tensors):
    sizes = {}
    for name, tensor in tensors.items():
        with tensor.register_hook(lambda g, n=name: sizes.update({n: g.norm().item()})):
            pass
    return sizes


def _log_no_return(tensors):
    _log_with_hook(lambda sizes, name, grad: sizes.update({name: grad.norm()}))(tensors)


def _log_backward(tensors):
    sizes = _log_with_hook(lambda sizes, name, grad: sizes.update({name: grad.norm()}))(tensors)
    tensors["out"].backward(retain_graph=True)
    return sizes


def _log_writes(sizes, name, grad):
    sizes[name] = grad.norm().item()
    grad.abs_()


def _log_appends(sizes, name, grad):
    sizes.setdefault(name, []).append(grad.norm().item())


def _log_cleared(sizes, name, grad):
    sizes.clear()
    sizes[name] = grad.norm()


def _log_sums(sizes, name, grad):
    sizes[name] = sizes.get(name, 0.0) + grad.norm().item()


def _log_first_tensor(tensors):
    sizes = {}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: sizes.update({name: grad.norm()}))
        return sizes


def _log_of_tensors(tensors):
    sizes = {}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda g, n=name, t=tensor: sizes.update({n: t.detach().norm()}))
    return sizes


def _log_one_dict(tensors, sizes={}):  # noqa: B006
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: sizes.update({name: grad.norm()}))
    return sizes


def _log_again(tensors):
    """Call backward in a hook, on the graph that the hook hangs on: that never ends."""
    sizes = {}
    for name, tensor in tensors.items():

        def hook(grad, name=name):
            sizes[name] = grad.norm()
            if name == "x":
                tensors["out"].backward(retain_graph=True)

        tensor.register_hook(hook)
    return sizes


class _Remember:
    """A hook that is an object."""

    def __init__(self, sizes, name):
        self.sizes, self.name = sizes, name

    def __call__(self, grad):
        self.sizes[self.name] = (grad * grad).sum() ** 0.5


def _log_objects(tensors):
    sizes = {}
    for name in tensors:
        tensors[name].register_hook(_Remember(sizes, name))
    return sizes


# 04.5


def _momentum(step, register="register_post_accumulate_grad_hook"):
    """Make a momentum_in_backward from step(p, velocities, lr, momentum)."""

    def momentum_in_backward(parameters, lr, momentum):
        velocities = {}
        return [
            getattr(p, register)(lambda p: step(p, velocities, lr, momentum)) for p in parameters
        ]

    return momentum_in_backward


def _momentum_right(p, velocities, lr, momentum):
    velocities[id(p)] = momentum * velocities.get(id(p), 0) + p.grad
    p.data = p.data - lr * velocities[id(p)]
    p.grad = None


def _momentum_plain(p, velocities, lr, momentum):
    p.sub_(lr * p.grad)
    p.grad = None


def _momentum_keeps_grad(p, velocities, lr, momentum):
    velocities[id(p)] = momentum * velocities.get(id(p), 0) + p.grad
    p.sub_(lr * velocities[id(p)])


def _momentum_shared(p, velocities, lr, momentum):
    velocities["v"] = momentum * velocities.get("v", 0) + p.grad
    p.sub_(lr * velocities["v"])
    p.grad = None


def _momentum_rebinds(p, velocities, lr, momentum):
    velocities[id(p)] = momentum * velocities.get(id(p), 0) + p.grad
    p.grad = None
    p = p - lr * velocities[id(p)]


def _momentum_averages(p, velocities, lr, momentum):
    velocities[id(p)] = momentum * velocities.get(id(p), 0) + (1 - momentum) * p.grad
    p.sub_(lr * velocities[id(p)])
    p.grad = None


def _momentum_uphill(p, velocities, lr, momentum):
    velocities[id(p)] = momentum * velocities.get(id(p), 0) + p.grad
    p.add_(lr * velocities[id(p)])
    p.grad = None


def _momentum_nesterov(p, velocities, lr, momentum):
    v = velocities[id(p)] = momentum * velocities.get(id(p), 0) + p.grad
    p.sub_(lr * (p.grad + momentum * v))
    p.grad = None


def _momentum_never_forgets(p, velocities, lr, momentum):
    velocities[id(p)] = velocities.get(id(p), 0) + p.grad
    p.sub_(lr * velocities[id(p)])
    p.grad = None


def _momentum_lr_twice(p, velocities, lr, momentum):
    velocities[id(p)] = momentum * velocities.get(id(p), 0) + lr * p.grad
    p.sub_(lr * velocities[id(p)])
    p.grad = None


def _momentum_whole(p, velocities, lr, momentum):
    velocities[id(p)] = momentum * (velocities.get(id(p), 0) + p.grad)
    p.sub_(lr * velocities[id(p)])
    p.grad = None


def _momentum_late(p, velocities, lr, momentum):
    p.sub_(lr * velocities.get(id(p), 0 * p.grad))
    velocities[id(p)] = momentum * velocities.get(id(p), 0) + p.grad
    p.grad = None


def _momentum_lr_inside(p, velocities, lr, momentum):
    """The same steps, since lr never changes."""
    velocities[id(p)] = momentum * velocities.get(id(p), 0) + lr * p.grad
    p.sub_(velocities[id(p)])
    p.grad = None


def _momentum_two_hooks(parameters, lr, momentum):
    velocities = {p: torch.zeros_like(p) for p in parameters}

    def collect(p):
        velocities[p] = momentum * velocities[p] + p.grad
        p.grad = None

    def step(p):
        p.sub_(lr * velocities[p])

    for p in parameters:
        p.register_post_accumulate_grad_hook(collect)
    return [p.register_post_accumulate_grad_hook(step) for p in parameters]


def _momentum_one_book(parameters, lr, momentum, velocities={}):  # noqa: B006
    def step(p):
        velocities[p] = momentum * velocities.get(p, 0) + p.grad
        p.sub_(lr * velocities[p])
        p.grad = None

    return [p.register_post_accumulate_grad_hook(step) for p in parameters]


def _momentum_returns(p, velocities, lr, momentum):
    _momentum_right(p, velocities, lr, momentum)
    return velocities[id(p)]


def _momentum_all_at_once(parameters, lr, momentum):
    velocities = [0.0 for _ in parameters]

    def step(_):
        for k, p in enumerate(parameters):
            velocities[k] = momentum * velocities[k] + p.grad
            p.sub_(lr * velocities[k])
            p.grad = None

    return [p.register_post_accumulate_grad_hook(step) for p in parameters]


def _momentum_no_handles(parameters, lr, momentum):
    _momentum(_momentum_right)(parameters, lr, momentum)


def _momentum_tensor_hook_on_grad(parameters, lr, momentum):
    velocities = {}

    def hook_for(p):
        def hook(grad):
            velocities[id(p)] = momentum * velocities.get(id(p), 0) + grad
            p.sub_(lr * velocities[id(p)])
            p.grad = None

        return hook

    return [p.register_hook(hook_for(p)) for p in parameters]


def _momentum_attribute(parameters, lr, momentum):
    def step(p):
        p.velocity = momentum * p.velocity + p.grad
        with torch.no_grad():
            p -= lr * p.velocity
        p.grad = None

    for p in parameters:
        p.velocity = torch.zeros_like(p)
    return [p.register_post_accumulate_grad_hook(step) for p in parameters]


def _momentum_late_index(parameters, lr, momentum):
    velocities = [torch.zeros_like(p) for p in parameters]

    handles = []
    for k, parameter in enumerate(parameters):

        def step(p):
            velocities[k] = momentum * velocities[k] + p.grad  # noqa: B023
            p.sub_(lr * velocities[k])  # noqa: B023
            p.grad = None

        handles.append(parameter.register_post_accumulate_grad_hook(step))
    return handles


def _momentum_sgd(parameters, lr, momentum):
    handles = []
    for parameter in parameters:
        sgd = torch.optim.SGD([parameter], lr=lr, momentum=momentum)

        def step(p, sgd=sgd):
            sgd.step()
            sgd.zero_grad()

        handles.append(parameter.register_post_accumulate_grad_hook(step))
    return tuple(handles)


# 04.6


def _parts(make):
    """Make stand_ins from make(x), with a hook of its own on each."""

    def stand_ins(x, n, hook):
        made = [make(x) for _ in range(n)]
        for i, each in enumerate(made):
            each.register_hook(lambda grad, i=i: hook(i, grad))
        return made

    return stand_ins


def _parts_on_x(x, n, hook):
    for i in range(n):
        x.register_hook(lambda grad, i=i: hook(i, grad))
    return [x for _ in range(n)]


def _parts_one_view(x, n, hook):
    view = x * 1
    for i in range(n):
        view.register_hook(lambda grad, i=i: hook(i, grad))
    return [view] * n


def _parts_late(x, n, hook):
    made = [x.clone() for _ in range(n)]
    for i, each in enumerate(made):
        each.register_hook(lambda grad: hook(i, grad))  # noqa: B023
    return made


def _parts_dropped(x, n, hook):
    def numbered(i):
        def call(grad):
            hook(i, grad)

        return call

    made = [x.view_as(x) for _ in range(n)]
    for i, each in enumerate(made):
        each.register_hook(numbered(i))
    return made


def _parts_from_one(x, n, hook):
    made = [x.view_as(x) for _ in range(n)]
    for i, each in enumerate(made, start=1):
        each.register_hook(lambda grad, i=i: hook(i, grad))
    return made


def _parts_swapped(x, n, hook):
    made = [x.view_as(x) for _ in range(n)]
    for i, each in enumerate(made):
        each.register_hook(lambda grad, i=i: hook(grad, i))
    return made


def _parts_unbound(x, n, hook):
    made = torch.stack([x] * n).unbind(0)
    for i in range(n):
        made[i].register_hook(lambda grad, number=i: hook(number, grad))
    return made


def _parts_once(x, n, hook):
    made, handles = [x.clone() for _ in range(n)], {}

    def numbered(i):
        def call(grad):
            handles[i].remove()
            return hook(i, grad)

        return call

    for i, each in enumerate(made):
        handles[i] = each.register_hook(numbered(i))
    return made


def _parts_as_they_arrive(x, n, hook):
    arrived = []

    def call(grad):
        arrived.append(grad)
        return hook(len(arrived) - 1, grad)

    made = [x.clone() for _ in range(n)]
    for each in made:
        each.register_hook(call)
    return made


def _parts_and_x(x, n, hook):
    made = [x.clone() for _ in range(n)]
    for i, each in enumerate([*made, x]):
        each.register_hook(lambda grad, i=i: hook(i, grad))
    return made


def _parts_right(x, n, hook):
    def one(i):
        stand_in = x + 0

        def call(grad):
            replaced = hook(i, grad)
            return grad if replaced is None else replaced

        stand_in.register_hook(call)
        return stand_in

    return tuple(map(one, range(n)))


ANSWERS = {
    "04.1": {
        "wrong": [
            ("without any hook", (-0.12239, -0.12239, -0.40796, -0.19378, -1.0199)),
            ("hook on s is missing", (-0.03, -0.03, -0.1, 0.19378, -1.0199)),
            ("hook on x1 is missing", (-0.061194, -0.061194, -0.20398, 0.096891, -0.50995)),
            ("hook on w1 is missing", (-0.03, -0.03, -0.1, -0.09689, -0.50995)),
            ("To which end", (0.03, 0.03, 0.1, 0.09689, -0.50995)),
            ("turned the sign of others", (-0.03, -0.03, -0.1, 0.09689, 0.50995)),
            ("You doubled it", (-0.03, -0.03, -0.1, 0.38756, -2.0398)),
            ("goes on by the chain rule", (-0.1, -0.1, -0.1, 0.09689, -0.50995)),
            ("one by one", (-0.0612, -0.0612, -0.1, 0.09689, -0.50995)),
            ("too late for three", (-0.015, -0.015, -0.05, 0.09689, -0.50995)),
            ("w1 is reached through s", (-0.03, -0.03, -0.1, 0.19378, -0.50995)),
            ("b1 is reached through s", (-0.03, -0.03, -0.1, 0.09689, -1.0199)),
            ("not w1 itself", (-0.03, -0.03, -0.1, 0.20398, -0.50995)),
            ("local derivative is 1", (-0.03, -0.03, -0.03, 0.09689, -0.50995)),
            ("5 are asked for", (-0.03, -0.1, -0.50995)),
            ("halved a second time", (-0.03, -0.03, -0.1, 0.09689, -0.254975)),
            ("Too few digits", (-0.03, -0.03, -0.1, 0.097, -0.51)),
            ("opposite order", (-0.50995, 0.09689, -0.1, -0.03, -0.03)),
        ],
        "right": [
            (-0.03, -0.03, -0.1, 0.0969, -0.50995),
            [-0.03, -0.03, -0.1, 0.096891, -0.5099],
            np.array([-0.03, -0.03, -0.1, 0.09689, -0.50995]),
        ],
    },
    "04.2": {
        "wrong": [
            ("bends the direction", _factory(lambda g, limit: torch.clamp(g, -limit, limit))),
            ("wrote into the gradient", _factory(_norm_in_place)),
            ("wrote into the gradient", _factory(_norm_in_place_returned)),
            ("only if it is returned", _factory(_norm_no_return)),
            ("gives NaN", _factory(lambda g, limit: g * limit / g.norm())),
            ("stretched", _factory(lambda g, limit: g * limit / (g.norm() + 1e-9))),
            ("divides by a norm of zero", _factory(_norm_float_division)),
            ("does not fit", _factory(_norm_is_returned)),
            ("does not fit", _factory(_norm_list)),
            ("root is missing", _factory(_norm_squared)),
            ("Use the argument", _factory(lambda g, limit: g / max(1.0, g.norm().item()))),
            ("with norm 1", _factory(lambda g, limit: g / g.norm() if g.norm() > limit else g)),
            ("exchanged", _factory(_norm_other_way_round)),
            ("upside down", _factory(lambda g, limit: g * max(1.0, g.norm().item() / limit))),
            ("Each row", _factory(_norm_by_row)),
            ("not divided by their number", _factory(_norm_mean)),
            ("another dtype", _factory(lambda g, limit: _norm_clamped_factor(g.double(), limit))),
            ("that of a later one", _norm_of_the_latest),
            ("keep from the first", _norm_of_the_first),
            ("largest entry", _factory(lambda g, limit: g / max(1.0, g.abs().max() / limit))),
            ("entries' sizes", _factory(lambda g, limit: g / max(1.0, g.abs().sum() / limit))),
            ("has to return a hook", _hook_not_factory),
            ("has to return a hook", lambda limit: 2 * limit),
            ("it takes nothing", lambda: 1.0),
            ("without brackets", 1.0),
        ],
        "right": [_factory(_norm_clamped_factor), _factory(_norm_with_max), _Clips],
    },
    "04.3": {
        "wrong": [
            ("took the gradient's place", _log_colleague),
            ("One name for all", _log_late_name),
            ("took the gradient's place", _log_returns),
            ("took the gradient's place", _log_returns_float),
            ("Only the first pass", _log_first_only),
            ("no gradient yet", _log_too_early),
            ("for leaves only", _log_post_accumulate),
            ("empty after the pass", _log_taken_off),
            ("empty after the pass", lambda tensors: {}),
            ("has to return the dict", _log_no_return),
            ("has to work without that", _log_backward),
            ("changed the gradient", _log_with_hook(_log_writes)),
            ("Lists are stored", _log_with_hook(_log_appends)),
            ("stores the gradients", _log_with_hook(lambda d, n, g: d.update({n: g}))),
            ("too early, inside", _log_first_tensor),
            ("emptied by each hook", _log_with_hook(_log_cleared)),
            ("are added up", _log_with_hook(_log_sums)),
            ("norms of the tensors", _log_of_tensors),
            ("norm is its root", _log_with_hook(lambda d, n, g: d.update({n: (g * g).sum()}))),
            (
                "changed the gradient",
                _log_with_hook(lambda d, n, g: d.update({n: g.pow_(2).sum()})),
            ),
            ("one dict for all calls", _log_one_dict),
            ("may have any names", lambda tensors: tensors["x1"].register_hook(print)),
            ("another", _log_again),
            ("entries' sizes", _log_with_hook(lambda d, n, g: d.update({n: g.abs().sum()}))),
            ("without brackets", {"x": 13.0}),
        ],
        "right": [
            _log_objects,
            _log_with_hook(lambda sizes, name, grad: sizes.update({name: torch.norm(grad)})),
            _log_with_hook(lambda sizes, name, grad: sizes.__setitem__(name, float(grad.norm()))),
        ],
    },
    "04.4": {
        "wrong": [
            ("four of them add up", ("a", "because it clips every gradient that comes")),
            ("retain_grad does nothing", ("c", "because retain_grad runs after the hooks")),
            ("which is 1 anyway", ("d", "because everything comes from the loss")),
            ("Add your reason", "b"),
            ("letters a, b, c, d", ("e", "none of these can do it")),
            ("letters a, b, c, d", 2),
        ],
        "right": [
            ("b", "because it sees .grad after the passes were added up"),
            ("(B)", "A tensor hook sees one pass; this one sees the total."),
            ("b", "It runs once the gradient has been accumulated."),
            ("b", "clamp the total, not the summands"),
        ],
    },
    "04.5": {
        "wrong": [
            ("without momentum", _momentum(_momentum_plain)),
            (".grad is not None", _momentum(_momentum_keeps_grad)),
            ("one velocity", _momentum(_momentum_shared)),
            ("one velocity", _momentum_late_index),
            ("do not move", _momentum(_momentum_rebinds)),
            ("weighted by 1 - momentum", _momentum(_momentum_averages)),
            ("up the slope", _momentum(_momentum_uphill)),
            ("looks ahead", _momentum(_momentum_nesterov)),
            ("not forgotten", _momentum(_momentum_never_forgets)),
            ("has to return None", _momentum(_momentum_returns)),
            ("a .grad that is None", _momentum_all_at_once),
            ("a .grad that is None", _momentum(_momentum_right, register="register_hook")),
            (".grad is not None", _momentum_tensor_hook_on_grad),
            ("comes in twice", _momentum(_momentum_lr_twice)),
            ("multiplied by momentum, too", _momentum(_momentum_whole)),
            ("velocity from before", _momentum(_momentum_late)),
            ("still move", lambda *args: _momentum(_momentum_right)(*args)[:1]),
            ("takes .grad away", _momentum_two_hooks),
            ("that of an earlier call", _momentum_one_book),
            ("list of handles", _momentum_no_handles),
            ("list of handles", lambda parameters, lr, momentum: 0.9),
        ],
        "right": [
            _momentum(_momentum_right),
            _momentum(_momentum_lr_inside),
            _momentum_sgd,
            _momentum_attribute,
        ],
    },
    "04.6": {
        "wrong": [
            ("on one tensor", _parts_on_x),
            ("on one tensor", _parts_one_view),
            ("same number every time", _parts_late),
            ("is dropped", _parts_dropped),
            ("count from zero", _parts_from_one),
            ("number first", _parts_swapped),
            ("cut off", _parts(lambda x: x.detach().clone().requires_grad_())),
            ("never called", lambda x, n, hook: [x.view_as(x) for _ in range(n)]),
            ("never called", lambda x, n, hook: [x] * n),
            ("have to be equal to x", _parts(lambda x: x / 3)),
            ("first pass only", _parts_once),
            ("under each other's numbers", _parts_as_they_arrive),
            ("on x perhaps", _parts_and_x),
            ("n was 2, and 3 came back", lambda x, n, hook: _parts_right(x, 3, hook)),
            ("another shape", lambda x, n, h: _parts_right(x, n, lambda i, g: h(i, g) or g.sum())),
            ("may return None", lambda x, n, h: _parts_right(x, n, lambda i, g: h(i, g).clone())),
            ("list of n tensors", lambda x, n, hook: x.view_as(x)),
            ("list of n tensors", lambda x, n, hook: hook),
            ("without brackets", [2.0, 5.0, 2.0]),
        ],
        "right": [
            _parts(lambda x: x.clone()),
            _parts(lambda x: x * 1),
            _parts_right,
            _parts_unbound,
        ],
    },
}
