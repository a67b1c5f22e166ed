"""See `autograd.functional`: products with Jacobians and Hessians, wrong arguments, strict mode."""

from __future__ import annotations

from .tools import Family, leaf, numbers

family = Family()

PRODUCTS = ("vjp", "jvp", "vhp", "hvp")
OF_A_NUMBER = ("vhp", "hvp", "hessian")


def kind_of_error(log, label, action):
    """Write down what something gives, or the kind of its error: strict mode has our own words."""
    try:
        log(label, action())
    except RuntimeError as error:
        log(label, type(error).__name__)


def cubic(x):
    """Give a vector for a vector."""
    return x**3 * x.sum()


def two_to_two(x, z):
    """Give a tuple of a matrix and a vector for two tensors of different shapes."""
    return x.t() @ z.reshape(2, 1) * x.sum(), z * z * x[0, 1]


def number_of_two(x, z):
    """Give a number for two tensors of different shapes."""
    return ((x.t() @ z.reshape(2, 1)) ** 2).sum() * x[1, 2]


def linear_in_both(x, z):
    """Give a number that is linear in each of two tensors."""
    return x.sum() * 2 + z.sum()


def only_the_first(x, z):
    """Give a number that depends on one of two tensors."""
    return (x**3).sum()


def unrelated(x, z):
    """Give a number that depends on neither."""
    return x.detach().sum()


def pair(torch, requires_grad=False):
    """Make a matrix and a vector."""
    return (
        leaf(torch, (2, 3), 1, requires_grad=requires_grad),
        leaf(torch, (2,), 2, requires_grad=requires_grad),
    )


def function_of(torch, name):
    """Give one of the functions of `autograd.functional`."""
    return getattr(torch.autograd.functional, name)


def vector_for(torch, name, requires_grad=False):
    """Make the vector that goes with two_to_two or number_of_two."""
    shapes = ((3, 1), (2,)) if name == "vjp" else ((2, 3), (2,))
    return tuple(
        torch.tensor(numbers(shape, 3 + place), requires_grad=requires_grad)
        for place, shape in enumerate(shapes)
    )


def add_for_each(names):
    """Add a scenario for each of several functions."""

    def decorate(scenario):
        for name in names:

            def run(torch, log, name=name):
                scenario(torch, log, name)

            run.__doc__ = f"{scenario.__doc__.rstrip('.')} ({name})."
            family.add(f"{scenario.__name__}_{name}", run)
        return scenario

    return decorate


@add_for_each(PRODUCTS)
def two_inputs(torch, log, name):
    """A function of two tensors, without and with a graph, of plain inputs and of leaves."""
    function = number_of_two if name in OF_A_NUMBER else two_to_two
    for requires_grad in (False, True):
        for create_graph in (False, True):
            results = function_of(torch, name)(
                function,
                pair(torch, requires_grad),
                vector_for(torch, name),
                create_graph=create_graph,
            )
            log("results", requires_grad, create_graph, results)


@add_for_each(PRODUCTS)
def one_number(torch, log, name):
    """The vector may be left out for a single number; the result of one input is no tuple."""
    x = torch.tensor([1.5])
    log("one", function_of(torch, name)(lambda x: (x**3).sum(), x))
    log("without dimensions", function_of(torch, name)(lambda x: x**3, torch.tensor(1.5)))
    log("a tuple", function_of(torch, name)(lambda x: (x**3).sum(), (x,)))


@add_for_each(PRODUCTS)
def differentiated_again(torch, log, name):
    """With create_graph the product is differentiable, for the inputs and for the vector."""
    x = leaf(torch, (3,), 5)
    v = torch.tensor(0.75 if name == "vjp" else numbers((3,), 6), requires_grad=True)

    def function(x):
        return (x**3).sum() * x[0]

    _, product = function_of(torch, name)(function, x, v, create_graph=True)
    (product * torch.tensor([1.0, -2.0, 0.5])).sum().backward()
    log("gradients", x.grad, v.grad)


@add_for_each(PRODUCTS)
def wrong_arguments(torch, log, name):
    """Inputs, outputs and vectors of the wrong kind, number or shape."""
    function = function_of(torch, name)
    x, z = pair(torch)
    number = only_the_first
    log.raises("list", lambda: function(number, [x, z], (x, z)))
    log.raises("number", lambda: function(number, (x, 3.0), (x, z)))
    log.raises("no tensor", lambda: function(lambda x: 3.0, x, x))
    log.raises("a list of tensors", lambda: function(lambda x: [x.sum()], x, x))
    log.raises("number among", lambda: function(lambda x: (x, "text"), x, x))
    log.raises("no vector", lambda: function(lambda x: x.exp(), x))
    log.raises("no vector of two", lambda: function(lambda x, z: (x.sum(), z), (x, z)))
    log.raises("list as vector", lambda: function(number, (x, z), [x, z]))
    log.raises("number as vector", lambda: function(number, (x, z), (x, 3)))
    log.raises("one of two", lambda: function(lambda x, z: (x * 2, z * 2), (x, z), x))
    log.raises("two for one", lambda: function(lambda x: x * 2, x, (x, x)))
    log.raises("wrong shape", lambda: function(lambda x: x * 2, x, z))
    log.raises("second wrong", lambda: function(lambda x, z: (x * 2, z * 2), (x, z), (x, x)))


@add_for_each(PRODUCTS)
def strictness(torch, log, name):
    """In strict mode what is independent is an error, else zero."""
    function = function_of(torch, name)
    x, z = pair(torch)
    v = torch.tensor(0.5) if name == "vjp" else (x, z)
    for depends in (number_of_two, linear_in_both, only_the_first, unrelated):
        for create_graph in (False, True):
            for strict in (False, True):

                def run(depends=depends, create_graph=create_graph, strict=strict):
                    inputs = (x.clone().requires_grad_(), z.clone().requires_grad_())
                    return function(depends, inputs, v, create_graph, strict)

                kind_of_error(log, f"{depends.__name__} {create_graph} {strict}", run)


@add_for_each(("vhp", "hvp", "hessian"))
def not_a_number(torch, log, name):
    """The function must return one tensor with one entry."""
    x = leaf(torch, (3,), 7)
    arguments = (x,) if name == "hessian" else (x, x)

    def run(function, **options):
        return function_of(torch, name)(function, *arguments, **options)

    log.raises("vector", lambda: run(cubic))
    log.raises("tuple", lambda: run(lambda x: (x.sum(),)))
    log.raises("two", lambda: run(lambda x: (x.sum(), x.sum())))
    log.raises("list", lambda: run(lambda x: [x.sum()]))
    log.raises("none", lambda: run(lambda x: None))
    log.raises("matrix of one entry", lambda: run(lambda x: (x**3).sum().reshape(1, 1)))


@family
def what_the_function_sees(torch, log):
    """Fresh tensors that require a gradient, recorded also under no_grad; `.grad` stays."""
    x = leaf(torch, (2,), 10)
    x.grad = torch.tensor([1.0, 2.0])

    def function(given):
        log("given", given, given is x, given.is_leaf, torch.is_grad_enabled())
        return (given * x).sum() ** 2

    with torch.no_grad():
        for name in (*PRODUCTS, "jacobian", "hessian"):
            v = () if name in ("vjp", "jacobian", "hessian") else (torch.tensor([0.5, -1.0]),)
            log(name, function_of(torch, name)(function, x, *v))
            log("with graph", function_of(torch, name)(function, x, *v, create_graph=True))
    log("kept", x.grad)


@family
def types_of_vectors(torch, log):
    """Vectors of another dtype are converted; inputs of integers are refused."""
    x = leaf(torch, (2,), 11)
    v = torch.tensor([1.0, -2.0], dtype=torch.float64)
    log("vjp", function_of(torch, "vjp")(cubic, x, v))
    log("jvp", function_of(torch, "jvp")(cubic, x, v))
    log("whole numbers", function_of(torch, "vjp")(cubic, x, torch.tensor([1, -2])))
    for name in ("vjp", "jvp", "jacobian"):
        log.raises(name, lambda name=name: function_of(torch, name)(cubic, torch.tensor([1, 2])))
    double = torch.tensor(numbers((2,), 12), dtype=torch.float64)
    log("double", function_of(torch, "jacobian")(cubic, double))
