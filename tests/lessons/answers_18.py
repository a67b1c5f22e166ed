"""Typical wrong answers and differently written right ones, for the exercises of lesson 18."""

from contextlib import ExitStack
from functools import partial
from statistics import mean

import minigrad as torch


def _score(pattern, letters, reduce=mean):
    first = {letter: letters.index(letter) for letter in letters}
    again = [at for at, letter in enumerate(letters) if first[letter] < at]
    return reduce([pattern[at, first[letters[at]] + 1].item() for at in again])


def _score_by_mask(pattern, letters):
    text = torch.tensor(letters)
    same = (text[:, None] == text).tril(-1)
    after = torch.cat([torch.zeros_like(same[:, :1]), same[:, :-1]], dim=1)
    return pattern[after].mean()


def _score_from_the_last_copy(pattern, letters):
    seen, total, count = {}, 0.0, 0
    for at, (letter, row) in enumerate(zip(letters, pattern.tolist(), strict=True)):
        if letter in seen:
            total, count = total + row[seen[letter] + 1], count + 1
        seen[letter] = at
    return total / count


def _mean_in_numpy(module, args, output):
    mean = torch.from_numpy(output.detach().numpy().mean(0))
    return mean.repeat(len(output), 1, 1).to(output.dtype)


def _run(model, hooks, letters):
    with ExitStack() as stack:
        for name, hook in hooks:
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        return model(letters)


def _kept(model, names, letters):
    kept = {}
    hooks = [(n, lambda m, a, output, n=n: kept.update({n: output.detach()})) for n in names]
    return _run(model, hooks, letters), kept


def _patch(model, places, clean, corrupted, scale=1, at=0):
    _, kept = _kept(model, [name for name, _ in places], clean)

    def one(name, position):
        def hook(module, args, output):
            chosen = torch.arange(output.shape[1])[:, None] == position + at
            return torch.where(chosen, scale * kept[name], output)

        return hook

    return _run(model, [(name, one(name, position)) for name, position in places], corrupted)


def _patch_row_by_row(model, places, clean, corrupted):
    hooks = []
    for name, position in places:
        row = _kept(model, [name], clean)[1][name][:, [position]]

        def hook(module, args, output, position=position, row=row):
            return torch.cat([output[:, :position], row, output[:, position + 1 :]], dim=1)

        hooks.append((name, hook))
    return _run(model, hooks, corrupted)


def _left_behind(model, places, clean, corrupted):
    model.get_submodule(places[0][0]).register_forward_hook(lambda *_: None)
    return _patch(model, places, clean, corrupted)


def _attribution(model, names, clean, corrupted, score, combine=torch.mul):
    _, ours = _kept(model, names, clean)
    live = {}
    hooks = [(name, lambda m, a, output, name=name: live.update({name: output})) for name in names]
    slopes = torch.autograd.grad(score(_run(model, hooks, corrupted)), list(live.values()))
    pairs = zip(live.items(), slopes, strict=True)
    return {n: combine(ours[n] - it.detach(), slope).sum((0, 2)) for (n, it), slope in pairs}


def _by_tensor_hooks(model, names, clean, corrupted, score):
    _, ours = _kept(model, names, clean)
    found = {}

    def hook(name, module, args, output):
        way = ours[name] - output.detach()
        note = lambda grad: found.update({name: torch.einsum("wpn,wpn->p", way, grad)})  # noqa: E731
        output.register_hook(note)

    score(_run(model, [(n, partial(hook, n)) for n in names], corrupted)).backward()
    return found


def _by_retained_gradients(model, names, clean, corrupted, score):
    live = {}

    def hook(name, module, args, output):
        output.retain_grad()
        live[name] = output

    score(_run(model, [(n, partial(hook, n)) for n in names], corrupted)).backward()
    ours = _kept(model, names, clean)[1]
    return {n: ((ours[n] - live[n]) * live[n].grad).detach().sum(2).sum(0) for n in names}


def _along(model, name, clean, corrupted, score, steps, weigh=lambda way, slope: way * slope):
    there, back = (_kept(model, [name], letters)[1][name] for letters in (clean, corrupted))
    slopes = []
    for step in range(steps):
        t = (2 * step + 1) / (2 * steps)
        point = torch.lerp(back, there, t).requires_grad_()
        score(_run(model, [(name, lambda m, a, o, point=point: point)], corrupted)).backward()
        slopes.append(point.grad)
    return weigh(there - back, torch.stack(slopes).mean(0)).sum(2).sum(0)


def _along_by_one_number(model, name, clean, corrupted, score, steps):
    ends = [_kept(model, [name], letters)[1][name] for letters in (corrupted, clean)]
    total = torch.zeros(ends[0].shape[1], dtype=ends[0].dtype)
    for step in range(steps):
        t = torch.full_like(total, (step + 0.5) / steps).requires_grad_()
        mixed = ends[0] + t[:, None] * (ends[1] - ends[0])
        scores = _run(model, [(name, lambda m, a, o, mixed=mixed: mixed)], corrupted)
        total = total + torch.autograd.grad(score(scores), t)[0] / steps
    return total


ANSWERS = {
    "18.1": {
        "wrong": [
            ("Right size, wrong sign", lambda pattern, letters: -_score(pattern, letters)),
            ("It gave", lambda pattern, letters: _score(pattern.cumsum(1), letters)),
            ("It gave", lambda pattern, letters: _score(pattern, letters, reduce=max)),
            ("It gave a list", partial(_score, reduce=list)),
            ("it takes pattern", lambda pattern: 1.0),
        ],
        "right": [_score, _score_by_mask, _score_from_the_last_copy],
    },
    "18.2": {
        "wrong": [
            ("Right size, wrong sign", lambda m, a, output: -output.mean(0).expand_as(output)),
            ("values fit", lambda m, a, output: output.median(0).values.expand_as(output)),
            ("has to return a Tensor", lambda m, a, output: (output.mean(0).expand_as(output),)),
            ("It changed", lambda m, a, output: output.copy_(output.mean(0).expand_as(output))),
            ("it takes module, output", lambda module, output: output),
        ],
        "right": [
            _mean_in_numpy,
            lambda m, a, output: torch.stack([sum(output) / len(output)] * len(output)),
            lambda m, a, output: 0 * output + output.sum(0) / output.shape[0],
        ],
    },
    "18.3": {
        "wrong": [
            ("with either kind of head", ("a", "because then the loss rises")),
            ("the same pattern", ("b", "because a mean over many words is certain")),
            ("A sharper pattern", ("d", "because training has not ended yet")),
            ("Add your reason", "c"),
            ("letters a, b, c", ("e", "because none of them can show it")),
        ],
        "right": [
            ("c", "the letter after the copy is five back there"),
            ("(C)", "With six letters, position and letter lead to different places."),
            "c) a head that counts looks at the wrong letter then",
        ],
    },
    "18.4": {
        "wrong": [
            ("values fit", partial(_patch, scale=2)),
            ("values fit", partial(_patch, at=1)),
            ("has to return the scores", lambda *given: [_patch(*given)]),
            ("A hook of yours", _left_behind),
            ("another mode", lambda model, *given: _patch(model.eval(), *given)),
        ],
        "right": [_patch, _patch_row_by_row, torch.no_grad()(_patch)],
    },
    "18.5": {
        "wrong": [
            ("a dict with an entry", lambda *given: list(_attribution(*given).values())),
            ("values fit", partial(_attribution, combine=lambda way, slope: way * slope**2)),
            ("Twice as much", partial(_attribution, combine=lambda way, slope: 2 * way * slope)),
            ("values fit", partial(_attribution, combine=torch.maximum)),
            ("it takes model, names", lambda model, names: {}),
        ],
        "right": [_attribution, _by_tensor_hooks, _by_retained_gradients],
    },
    "18.6": {
        "wrong": [
            ("values fit", partial(_along, weigh=lambda way, slope: way.abs() * slope)),
            ("values fit", partial(_along, weigh=lambda way, slope: way * slope.abs())),
            ("values fit", lambda *given: _along(*given[:-1], given[-1] + 1)),
            ("is None", lambda *given: [_along(*given)].clear()),
            ("it takes model, name", lambda model, name: 0),
        ],
        "right": [_along, _along_by_one_number, partial(_along, weigh=lambda w, s: s * w)],
    },
}
