"""See how a custom Function is defined: methods, names, keywords, setup_context, misuse."""

from __future__ import annotations

from .custom_function import define
from .tools import Family, leaf

family = Family()


@family
def setup_context(torch, log):
    """forward without ctx; defaults and keywords are filled in for setup_context."""

    def forward(x, w, exponent=2, *, factor=10.0):
        log("forward", exponent, factor, torch.is_grad_enabled())
        return x**exponent * w * factor

    def setup(ctx, inputs, output):
        log("setup", type(inputs).__name__, len(inputs), output, torch.is_grad_enabled())
        x, w, ctx.exponent = inputs
        ctx.save_for_backward(x, w)

    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        n = ctx.exponent
        log("needs", ctx.needs_input_grad)
        return grad * n * x ** (n - 1) * w * 10, grad * x**n * 10, None

    x, w = leaf(torch, (2,), 10), leaf(torch, (2,), 11)
    plain = define(torch, lambda x, w, e=2: forward(x, w, e), backward, setup_context=setup)
    for call in (
        lambda: plain.apply(x, w),
        lambda: plain.apply(x, w, 3),
        lambda: plain.apply(x, w=w),
        lambda: plain.apply(e=3, w=w, x=x),
    ):
        y = call()
        y.sum().backward()
        log("gradients", y, x.grad, w.grad)
    starred = define(torch, forward, backward, setup_context=setup)
    log.raises("keyword only", lambda: starred.apply(x, w))
    log.raises("missing", lambda: plain.apply(x))
    log.raises("too many", lambda: plain.apply(x, w, 2, 3))
    log.raises("unknown", lambda: plain.apply(x, w, other=3))


@family
def keywords_to_apply(torch, log):
    """Keywords given to apply of a Function whose forward takes ctx."""

    def forward(ctx, x, factor=2.0, power=1):
        ctx.factor = factor
        log("needs", ctx.needs_input_grad, factor, power)
        return x**power * factor

    mine = define(torch, forward, lambda ctx, grad: (grad * ctx.factor, None))
    x = leaf(torch, (2,), 12)
    for name, call in {
        "positional": lambda: mine.apply(x, 3.0),
        "default": lambda: mine.apply(x),
        "keyword": lambda: mine.apply(x, factor=3.0),
        "all": lambda: mine.apply(x=x, factor=5.0),
        "too many": lambda: mine.apply(x, 1.0, 2, 3),
        "none": lambda: mine.apply(),
    }.items():
        log.raises(name, call)


@family
def class_methods(torch, log):
    """forward and backward as class methods."""

    class Scale(torch.autograd.Function):
        factor = 3.0

        @classmethod
        def forward(cls, ctx, x):
            return x * cls.factor

        @classmethod
        def backward(cls, ctx, grad):
            return grad * cls.factor

    class Bigger(Scale):
        factor = 5.0

    x = leaf(torch, (2,), 13)
    for function in (Scale, Bigger):
        y = function.apply(x)
        log("value", y)
        y.sum().backward()
        log("gradient", x.grad)


@family
def subclasses_and_names(torch, log):
    """A subclass of a subclass, one in a function and one in a class: names of their nodes."""

    class Outer(torch.autograd.Function):
        class Inner(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    class Third(Outer):
        @staticmethod
        def backward(ctx, grad):
            return Outer.backward(ctx, grad) * 10

    x = leaf(torch, (2,), 14)
    for function in (Outer, Outer.Inner, Third):
        y = function.apply(x)
        log(function.__name__, y.grad_fn.name(), repr(y))
        y.sum().backward()
        log("gradient", x.grad)


@family
def vjp_is_another_name_for_backward(torch, log):
    """vjp may stand for backward."""

    def forward(ctx, x):
        return x * 2

    def rule(ctx, grad):
        return grad * 2

    x = leaf(torch, (2,), 15)
    y = define(torch, forward, vjp=rule).apply(x)
    y.sum().backward()
    log("vjp", x.grad)
    log("apply", y.grad_fn.apply(torch.ones(2)))
    base = torch.autograd.Function
    log("functions", base.vjp is base.backward)
    log.raises("forward", lambda: base.forward(None, x))
    log.raises("backward", lambda: base.backward(None, x))
    log.raises("setup_context", lambda: base.setup_context(None, (), x))


@family
def misuse_of_the_class(torch, log):
    """Instances, methods that are not static, missing methods."""

    class NotStatic(torch.autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad):
            return grad * 2

    NotStatic.__module__ = "somewhere"  # the warning names it
    x = leaf(torch, (2,), 10)
    y = NotStatic.apply(x)
    y.sum().backward()
    log("not static", y, x.grad)
    log.raises("instance", lambda: NotStatic().__class__.__name__)
    log.raises("called", lambda: NotStatic()(x))
    log.raises("arguments", lambda: NotStatic(3, name=4)(x))
    log.raises("no forward", lambda: type("E", (torch.autograd.Function,), {}).apply(x))
    log.raises("base", lambda: torch.autograd.Function.apply(x))
    only_forward = define(torch, lambda ctx, x: x * 2)
    log.raises("no backward", lambda: only_forward.apply(x).sum().backward())
    log("value without backward", only_forward.apply(x))


@family
def errors_keep_type_and_text(torch, log):
    """Exceptions of forward, setup_context and backward come through; the next pass works."""

    class PlantedError(Exception):
        pass

    fail = True

    def backward(ctx, grad):
        if fail:
            raise PlantedError("exactly this", 5)
        return grad * 2

    def raising(*args):
        raise PlantedError("planted")

    x = leaf(torch, (2,), 9)
    y = define(torch, lambda ctx, x: x * 2, backward).apply(x)
    log.raises("backward", lambda: y.sum().backward())
    fail = False
    y.sum().backward()
    log("next pass", x.grad, torch.is_grad_enabled())
    log.raises("forward", lambda: define(torch, raising).apply(x))
    log("grad mode", torch.is_grad_enabled())
    with_setup = define(torch, lambda x: x * 2, setup_context=raising)
    log.raises("setup_context", lambda: with_setup.apply(x))
