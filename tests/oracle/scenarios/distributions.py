"""torch.distributions: draws of a seed, densities, moments, entropies, bounds, printed forms."""

from __future__ import annotations

from .tools import Family

family = Family()


def parameters(torch):
    """Give a location, a scale, probabilities and logits, all of which require gradients."""
    rows = ([0.5, -1.0], [1.0, 2.0], [0.2, 0.7], [[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]])
    return [torch.tensor(row, requires_grad=True) for row in rows]


# by name: a function of the library, its distributions, loc, scale, probabilities and logits
MAKE = {
    "Normal of numbers": lambda t, d, m, s, p, z: d.Normal(0.0, 1.0),
    "Normal": lambda t, d, m, s, p, z: d.Normal(m, s),
    "Normal of a tensor and a number": lambda t, d, m, s, p, z: d.Normal(m, 1),
    "Normal, broadcast": lambda t, d, m, s, p, z: d.Normal(t.zeros(3, 1), t.ones(2)),
    "Bernoulli of a number": lambda t, d, m, s, p, z: d.Bernoulli(0.3),
    "Bernoulli": lambda t, d, m, s, p, z: d.Bernoulli(p),
    "Bernoulli of logits": lambda t, d, m, s, p, z: d.Bernoulli(logits=m),
    "Categorical": lambda t, d, m, s, p, z: d.Categorical(p / 1),
    "Categorical of logits": lambda t, d, m, s, p, z: d.Categorical(logits=z),
}


def _add(name, make):
    def scenario(torch, log):
        given = parameters(torch)
        made = make(torch, torch.distributions, *given)
        log("printed", repr(made), made.batch_shape, made.event_shape)
        log("can", made.has_rsample)
        for moment in ("mean", "variance", "stddev"):
            log(moment, getattr(made, moment))
        torch.manual_seed(3)
        log("sample", made.sample(), made.sample((2,)), made.sample((1, 2)).shape)
        log.raises("rsample", made.rsample)
        log.raises("rsample of a shape", lambda: made.rsample([2]).shape)
        value = made.sample()
        log("log_prob", made.log_prob(value), made.log_prob(made.sample((3,))).shape)
        log.raises("entropy", made.entropy)
        log("printed after use", repr(made))

    def gradients(torch, log):
        given = parameters(torch)
        made = make(torch, torch.distributions, *given)
        torch.manual_seed(5)
        value = made.sample()
        functions = {"log_prob": lambda: made.log_prob(value), "entropy": made.entropy}
        if made.has_rsample:
            functions["rsample"] = made.rsample
        for what, function in functions.items():
            result = function()
            if result.requires_grad:
                found = torch.autograd.grad(
                    result.sum(), given, allow_unused=True, retain_graph=True
                )
                log(what, *found)
            else:
                log(what, "no graph")

    scenario.__doc__ = f"{name}: all that it can be asked for."
    gradients.__doc__ = f"{name}: gradients of log_prob, entropy and rsample."
    family.add(name, scenario)
    family.add(f"{name}, gradients", gradients)


for _name, _make in MAKE.items():
    _add(_name, _make)


@family
def refused(torch, log):
    """Parameters and values that cannot be."""
    d = torch.distributions
    loc, scale, _, logits = parameters(torch)
    wrong = {
        "scale": lambda: d.Normal(0.0, -1.0),
        "scales": lambda: d.Normal(loc, -scale),
        "nan": lambda: d.Normal(torch.tensor([float("nan")]), torch.ones(1)),
        "text": lambda: d.Normal("a", 1.0),
        "shapes": lambda: d.Normal(torch.zeros(2), torch.ones(3)),
        "probability": lambda: d.Bernoulli(1.5),
        "neither": lambda: d.Bernoulli(),
        "both": lambda: d.Bernoulli(0.5, logits=0.0),
        "no categories": lambda: d.Categorical(),
        "one number": lambda: d.Categorical(torch.tensor(0.5)),
        "negative weight": lambda: d.Categorical(torch.tensor([-1.0, 2.0])),
        "value nan": lambda: d.Normal(0.0, 1.0).log_prob(torch.tensor(float("nan"))),
        "half": lambda: d.Bernoulli(0.5).log_prob(torch.tensor(0.5)),
        "no such category": lambda: d.Categorical(logits=logits).log_prob(torch.tensor([0, 5])),
        "outside, unchecked": lambda: d.Bernoulli(0.5, validate_args=False).log_prob(
            torch.tensor(0.5)
        ),
    }
    for name, action in wrong.items():
        log.raises(name, action)
    log.raises("unchecked", lambda: repr(d.Normal(0.0, -1.0, validate_args=False)))
