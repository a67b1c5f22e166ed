"""See what happens if `.data` gets another shape or dtype, or a reshape is not recorded."""

from __future__ import annotations

import warnings

from .tools import Family, leaf

family = Family()

# What is done with the tensor, before or after its data changes.
USES = {
    "sum": lambda y: y.sum(),
    "mul": lambda y: y * 2,
    "square": lambda y: y * y,
    "exp": lambda y: y.exp(),
    "entry": lambda y: y[0],
}


def forms(torch):
    """Give tensors of other shapes and dtypes than 2 by 3 in float32."""
    return {
        "row": torch.ones(3),
        "turned": torch.ones(3, 2),
        "double": torch.ones(2, 3, dtype=torch.float64),
        "both": torch.ones(4, dtype=torch.float64),
        "more": torch.ones(4, 2, 3),
        "one row": torch.ones(1, 3),
        "nothing": torch.ones(0),
    }


def tell(log, name):
    """Make a hook that says what arrives."""

    def hook(gradient):
        log(name, list(gradient.shape), str(gradient.dtype))

    return hook


def add(name, of_leaf, before):
    """Add a scenario for one kind of tensor and one moment."""

    def scenario(torch, log):
        for form, data in forms(torch).items():
            for use, function in USES.items():
                if use == "entry" and form == "nothing":
                    continue
                for create_graph in (False, True):
                    x = leaf(torch, (2, 3), 1)
                    y = x if of_leaf else x * 3
                    y.register_hook(tell(log, "hook"))
                    if before:
                        y.data = data.clone()
                    z = function(y)
                    if not before:
                        y.data = data.clone()

                    def run(x=x, z=z, create_graph=create_graph):
                        z.sum().backward(create_graph=create_graph)
                        log("gradient", x.grad, str(x.grad.dtype))

                    log.raises(f"{form} {use} {create_graph}", run)

    scenario.__doc__ = f"Another form of {name}: gradients are reduced, or it is an error."
    family.add(name, scenario)


add("a leaf before", True, True)
add("a leaf after", True, False)
add("a result before", False, True)
add("a result after", False, False)


@family
def reshaped_unrecorded(torch, log):
    """A reshape under no_grad is no part of the graph: it waits for the old shape."""
    for name in ("t_", "unsqueeze_"):
        for of_leaf in (True, False):
            for before in (True, False):
                x = leaf(torch, (2, 3), 1)
                y = x if of_leaf else x * 3
                z = None if before else y.exp()
                with torch.no_grad():
                    y.t_() if name == "t_" else y.unsqueeze_(0)
                z = y * 2 if z is None else z

                def run(x=x, z=z):
                    z.sum().backward()
                    log("gradient", x.grad)

                log.raises(f"{name} {of_leaf} {before}", run)


@family
def around(torch, log):
    """What else is there: a gradient already, several outputs, views, gradients asked for."""
    for form, data in forms(torch).items():
        x = leaf(torch, (2, 3), 1)
        x.sum().backward()
        x.data = data.clone()
        log(form, x.grad)
        with warnings.catch_warnings():  # PyTorch says once that this may be slow
            warnings.simplefilter("ignore")
            log.raises("added", lambda x=x: (x * 2).sum().backward())
        log("then", x.grad)
        x = leaf(torch, (2, 3), 1)
        row, _ = (x * 1).unbind(0)
        row.data = data.clone()
        log.raises(
            "several", lambda x=x, row=row: log("got", *torch.autograd.grad((row * 2).sum(), x))
        )
        x = leaf(torch, (2, 3), 1)
        y = x * 2
        y.data = data.clone()
        log.raises(
            "asked", lambda x=x, y=y: log("got", *torch.autograd.grad((y * 3).sum(), (x, y)))
        )


@family
def more_than_once(torch, log):
    """The graph waits for the form that it made, however often the data changes."""
    x = leaf(torch, (2, 3), 1)
    y = x * 2
    y.register_hook(tell(log, "hook"))
    y.grad_fn.register_prehook(lambda gradients: log("node", list(gradients[0].shape)))
    y.data = torch.ones(5)
    y.data = torch.ones(4, 2, 3, dtype=torch.float64)
    y.retain_grad()
    (y * y).sum().backward()
    log("gradients", x.grad, y.grad)
    y = x * 2
    y.data = torch.ones(5)
    y.data = torch.ones(2, 3)
    (y * y).sum().backward()
    log("back", x.grad)
