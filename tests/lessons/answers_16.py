"""Wrong answers that are no row of a table, and right ones, for the exercises of lesson 16."""

from functools import partial

import numpy as np

import minigrad as torch


def _steps(model, make, every):
    counts, handles = {}, []
    for p in model.parameters():
        if not p.requires_grad:
            continue

        def hook(p, optimizer=make([p])):  # noqa: B008
            counts[p] = counts.get(p, 0) + 1
            if counts[p] == every:
                counts[p] = 0
                p.grad = p.grad / every
                optimizer.step()
                optimizer.zero_grad()

        handles.append(p.register_post_accumulate_grad_hook(hook))
    return handles


def _steps_by_class(model, make, every):
    class Stepper:
        def __init__(self, p):
            self.optimizer, self.calls = make([p]), 0

        def __call__(self, p):
            self.calls += 1
            if self.calls % every:
                return
            p.grad.div_(every)
            self.optimizer.step()
            p.grad = None

    trained = filter(lambda p: p.requires_grad, model.parameters())
    return [p.register_post_accumulate_grad_hook(Stepper(p)) for p in trained]


def _steps_by_two_hooks(model, make, every):
    handles = []

    def step(state, p):
        state["n"] += 1
        if state["n"] % every == 0:
            state["optimizer"].step()
            p.grad = None

    for p in model.parameters():
        if p.requires_grad:
            state = {"n": 0, "optimizer": make([p])}
            handles.append(p.register_hook(lambda g: g / every))
            handles.append(p.register_post_accumulate_grad_hook(partial(step, state)))
    return handles


def _stepping(act, kind="register_post_accumulate_grad_hook", frozen=True, returns=True):
    """Make an answer whose hook, with its own count, does `act(p, optimizer, count, every)`."""

    def steps_every(model, make, every):
        trained = [p for p in model.parameters() if p.requires_grad or not frozen]
        optimizers, counts = {p: make([p]) for p in trained}, dict.fromkeys(trained, 0)

        def hook(p):
            counts[p] += 1
            act(p, optimizers[p], counts[p], every)

        handles = [getattr(p, kind)(hook) for p in trained]
        return handles if returns else None

    return steps_every


def _right_act(p, optimizer, count, every):
    if count % every == 0:
        p.grad /= every
        optimizer.step()
        p.grad = None


def _act_sum(p, optimizer, count, every):
    if count % every == 0:
        optimizer.step()
        p.grad = None


def _act_on_sums(p, optimizer, count, every):
    optimizer.total = getattr(optimizer, "total", 0) + p.grad
    if count % every == 0:
        p.grad, optimizer.total = optimizer.total / every, 0
        optimizer.step()
        p.grad = None


def _thaws(model, make, every):
    return _stepping(_right_act)(model.requires_grad_(True), make, every)


def _first_handle_only(model, make, every):
    return _steps(model, make, every)[:1]


_FLOATS = (torch.float32, torch.float64)


def _halves_by_class(fewest):
    class Half:
        def __init__(self, t):
            self.array = t.detach().numpy().astype(np.float16)
            self.dtype = t.dtype

    def pack(t):
        if t.dtype not in _FLOATS or t.numel() < fewest:
            return t
        return Half(t) if t.min() >= -65504 and t.max() <= 65504 else t

    def unpack(kept):
        return torch.from_numpy(kept.array).to(kept.dtype) if isinstance(kept, Half) else kept

    return [pack, unpack]


def _halves_nested(fewest):
    def can(t):
        if not t.is_floating_point() or t.dtype == torch.float16:
            return False
        return t.numel() >= fewest and (t.abs() > 65504).sum() == 0

    def pack(t):
        return {"half": t.to(torch.float16), "was": t.dtype} if can(t) else t

    def unpack(x):
        if isinstance(x, dict):
            return x["half"].to(x["was"])
        return x

    return pack, unpack


def _halves_naive(fewest):
    return lambda t: t.half(), lambda t: t.float()


def _halves_last_dtype(fewest):
    seen = {}

    def pack(t):
        seen["dtype"] = t.dtype
        if t.dtype in _FLOATS and t.numel() >= fewest and t.abs().max() <= 65504:
            return t.half()
        return t

    def unpack(t):
        return t.to(seen["dtype"]) if t.dtype == torch.float16 else t

    return pack, unpack


def _halves_common_dtype(fewest):
    pack, _ = _halves_last_dtype(fewest)
    seen = {}

    def note(t):
        seen["dtype"] = t.dtype
        return pack(t)

    return note, lambda t: t.to(seen["dtype"])


def _halves_in_place(fewest):
    def pack(t):
        with torch.no_grad():
            return t.mul_(0.5) if t.is_floating_point() else t

    return pack, lambda t: t * 2


def _halves_some_returned(fewest):
    def pack(t):
        if t.dtype in _FLOATS and t.numel() >= fewest and t.abs().max() <= 65504:
            return t.half(), t.dtype

    return pack, lambda packed: packed[0].to(packed[1])


def _average(model, comm):
    pending = []

    def hook(p):
        p.grad /= comm.Get_size()
        mine = p.grad.numpy().copy()
        total = np.zeros_like(mine)
        pending.append([p, mine, total, comm.Iallreduce(mine, total)])

    for p in model.parameters():
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(hook)

    def finish():
        while pending:
            p, _, total, request = pending.pop(0)
            request.Wait()
            p.grad = torch.from_numpy(total)

    return finish


def _average_by_tensor_hook(model, comm):
    running = {}

    def start(p, gradient):
        mine = gradient.numpy().ravel().copy()
        total = np.empty_like(mine)
        running[p] = comm.Iallreduce(mine, total), mine, total

    for p in filter(lambda p: p.requires_grad, model.parameters()):
        p.register_hook(partial(start, p))

    def finish():
        for p, (request, _, total) in running.items():
            request.wait()
            p.grad[...] = torch.from_numpy(total / comm.size).reshape(p.shape)

    return finish


def _average_by_class(model, comm):
    class Averager:
        def __init__(self):
            self.jobs = []
            for p in model.parameters():
                if p.requires_grad:
                    p.register_post_accumulate_grad_hook(self.start)

        def start(self, p):
            total = np.empty_like(p.grad.numpy())
            self.jobs.append((p, total, comm.Iallreduce([p.grad.numpy(), None], [total, None])))

        def __call__(self):
            jobs, self.jobs = self.jobs, []
            for _, _, request in jobs:
                request.Wait()
            for p, total, _ in jobs:
                p.grad.copy_(torch.from_numpy(total)).div_(comm.Get_size())

    return Averager()


def _averaging(start, finish, frozen=True):
    def average_in_backward(model, comm):
        state = []
        for p in model.parameters():
            if p.requires_grad or not frozen:
                p.register_post_accumulate_grad_hook(lambda p: start(p, comm, state))
        return lambda: finish(comm, state)

    return average_in_backward


def _finish(comm, state):
    for p, request, total in state:
        request.Wait()
        p.grad.copy_(torch.from_numpy(total / comm.Get_size()))
    state.clear()


def _buckets(sizes, limit):
    result, bucket, held = [], [], 0
    for place in range(len(sizes) - 1, -1, -1):
        bucket.append(place)
        held += sizes[place]
        if held >= limit:
            result.append(bucket)
            bucket, held = [], 0
    if bucket:
        result.append(bucket)
    return result


def _buckets_recursive(sizes, limit):
    for first in range(len(sizes) - 1, -1, -1):
        if sum(sizes[first:]) >= limit:
            full = list(range(len(sizes) - 1, first - 1, -1))
            return [full, *_buckets_recursive(sizes[:first], limit)]
    rest = list(range(len(sizes) - 1, -1, -1))
    return [rest] if rest else []


def _buckets_tuples(sizes, limit):
    return [tuple(bucket) for bucket in _buckets(sizes, limit)]


def _buckets_changes(sizes, limit):
    found = _buckets(sizes, limit)
    sizes.clear()
    return found


def _compressor(keep):
    memory = {}

    def compress(name, gradient):
        total = gradient.clone()
        if name in memory:
            total += memory[name]
        flat = total.reshape(-1)
        order = flat.abs().argsort(descending=True)[:keep]
        sent = torch.zeros_like(flat)
        sent[order] = flat[order]
        memory[name] = (flat - sent).reshape(gradient.shape)
        return sent.reshape(gradient.shape)

    return compress


def _compressor_numpy(keep):
    rest = {}

    def compress(name, gradient):
        whole = gradient.numpy() + rest.get(name, np.zeros_like(gradient.numpy()))
        sent = np.zeros_like(whole)
        best = np.argsort(-np.abs(whole), axis=None)[:keep]
        sent.flat[best] = whole.flat[best]
        rest[name] = whole - sent
        return torch.from_numpy(sent)

    return compress


class _Compressor:
    def __init__(self, keep):
        self.keep, self.rest = keep, {}

    def __call__(self, name, gradient):
        whole = gradient + self.rest.get(name, torch.zeros_like(gradient))
        sizes = whole.abs().flatten()
        bound = sizes.sort().values[-min(self.keep, sizes.numel())]
        mask = whole.abs() >= bound
        self.rest[name] = whole * ~mask
        return whole * mask


def _top(whole, keep, size=torch.abs):
    flat = whole.flatten()
    best = size(flat).topk(min(keep, len(flat))).indices
    sent = torch.zeros_like(flat)
    sent[best] = flat[best]
    return sent.reshape(whole.shape)


def _compress_in_place(keep):
    rest = {}

    def compress(name, gradient):
        gradient += rest.get(name, 0)
        sent = _top(gradient, keep)
        rest[name] = gradient - sent
        return sent

    return compress


def _compress_no_return(keep):
    rest = {}

    def compress(name, gradient):
        whole = gradient + rest.get(name, 0)
        rest[name] = whole - _top(whole, keep)

    return compress


def _compress_rows(keep):
    rest = {}

    def compress(name, gradient):
        whole = gradient + rest.get(name, 0)
        best = whole.abs().topk(min(keep, whole.shape[-1]), dim=-1).indices
        sent = torch.zeros_like(whole).scatter(-1, best, whole.gather(-1, best))
        rest[name] = whole - sent
        return sent

    return compress


def _smaller_rate(model, make, every):
    def make_smaller(parameters):
        optimizer = make(parameters)
        for group in optimizer.param_groups:
            group["lr"] /= every
        return optimizer

    return _stepping(_act_sum)(model, make_smaller, every)


def _steps_all_at_the_end(model, make, every):
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer, calls = make(parameters), [0]

    def step(p):
        calls[0] += 1
        if calls[0] % (every * len(parameters)) == 0:
            for q in parameters:
                q.grad /= every
            optimizer.step()
            optimizer.zero_grad()

    return [p.register_post_accumulate_grad_hook(step) for p in parameters]


def _halves_by_closures(fewest):
    def pack(t):
        floats = t.dtype in (torch.float32, torch.float64)
        if floats and t.numel() >= fewest and (t.abs() <= 65504).all():
            half, dtype = t.half(), t.dtype
            return lambda: half.to(dtype)
        return lambda: t

    return pack, lambda packed: packed()


def _averaging_with(start, finish_one):
    def average_in_backward(model, comm):
        running, memory = [], {}

        def hook(p):
            running.append((p, *start(p, comm, memory)))

        def finish():
            for p, request, _, total in running:
                request.Wait()
                finish_one(p, total, comm)
            running.clear()

        for p in model.parameters():
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(hook)
        return finish

    return average_in_backward


def _begin(p, comm, memory):
    mine = p.grad.numpy()
    total = np.empty_like(mine)
    return comm.Iallreduce(mine, total), mine, total


def _begin_and_divide(p, comm, memory):
    started = _begin(p, comm, memory)
    p.grad /= comm.Get_size()
    return started


def _begin_and_read(p, comm, memory):
    started = _begin(p, comm, memory)
    p.grad = torch.from_numpy(started[2] / comm.Get_size())
    return started


def _begin_in_common_memory(p, comm, memory):
    mine = p.grad.numpy()
    total = memory.setdefault(p.shape, np.empty_like(mine))
    return comm.Iallreduce(mine, total), mine, total


def _put_mean(p, total, comm):
    p.grad = torch.from_numpy(total / comm.Get_size())


def _put_sum(p, total, comm):
    p.grad = torch.from_numpy(total)


def _hooks_taken_away(model, comm):
    running, handles = {}, []

    def start(p):
        running[p] = _begin(p, comm, {})

    def finish():
        for p, (request, _, total) in running.items():
            request.Wait()
            _put_mean(p, total, comm)
        for handle in handles:
            handle.remove()

    trained = (p for p in model.parameters() if p.requires_grad)
    handles += [p.register_post_accumulate_grad_hook(start) for p in trained]
    return finish


def _buckets_emptied(sizes, limit):
    made, bucket, held = [], [], 0
    for place in reversed(range(len(sizes))):
        bucket.append(place)
        held += sizes[place]
        if held >= limit:
            made.append(bucket)
            bucket.clear()
            held = 0
    return [*made, bucket] if bucket else made


def _compress_rest_twice(keep):
    rest = {}

    def compress(name, gradient):
        whole = gradient + rest.get(name, 0)
        sent = _top(whole, keep)
        rest[name] = rest.get(name, 0) + whole - sent
        return sent

    return compress


def _only_rank_0(model, comm):
    return _average(model, comm) if comm.Get_rank() == 0 else lambda: None


ANSWERS = {
    "16.1": {
        "wrong": [
            ("make([p]) is for one parameter", _steps_all_at_the_end),
            ("The first that does not fit", _stepping(_act_on_sums)),
            ("requires_grad of a tensor is another now", _thaws),
            ("with Adam and every=2", _smaller_rate),
            ("with all handles removed", _first_handle_only),
        ],
        "right": [_steps_by_class, _steps_by_two_hooks, _stepping(_right_act)],
    },
    "16.2": {
        "wrong": [
            ("put the note into what pack returns", _halves_common_dtype),
            ("that isn't a float", _halves_naive),
            ("modifying its input", _halves_in_place),
            ("two functions", lambda fewest: torch.Tensor.half),
            ("it gives a ndarray", lambda fewest: (lambda t: t.numpy(), lambda array: array)),
            ("Did unpack get None", _halves_some_returned),
        ],
        "right": [_halves_by_class, _halves_nested, _halves_by_closures],
    },
    "16.3": {
        "wrong": [
            ("before Wait", _averaging_with(_begin_and_read, lambda p, total, comm: None)),
            ("receive in the same memory", _averaging_with(_begin_in_common_memory, _put_mean)),
            ("was changed before Wait", _averaging_with(_begin_and_divide, _put_sum)),
            ("not all started the same", _only_rank_0),
            ("leave the hooks on", _hooks_taken_away),
        ],
        "right": [_average, _average_by_tensor_hook, _average_by_class],
    },
    "16.4": {
        "wrong": [
            ("entry [0]", (62, 49, 47, 63)),
            ("entry [3]", (64, 49, 47, 64)),
            ("3 ms more", (46, 49, 47, 63)),
            ("4 are asked for", (64, 49, 47)),
            ("Give the values themselves", "soon"),
        ],
        "right": [(64, 49, 47, 63), [64.0, 49.0, 47.0, 63.0], np.array([64, 49, 47, 63])],
    },
    "16.5": {
        "wrong": [
            ("changed what it was given", _buckets_changes),
            (
                "arranged differently",
                lambda s, n: [[*range(len(s))][::-1][k : k + 2] for k in range(0, len(s), 2)],
            ),
            ("whatever goes in", lambda sizes, limit: [[0]]),
            ("Buckets come out empty", _buckets_emptied),
            ("It gave None", lambda sizes, limit: print(sizes)),
        ],
        "right": [_buckets_recursive, _buckets_tuples, _buckets],
    },
    "16.6": {
        "wrong": [
            ("It changed the gradient", _compress_in_place),
            ("what is sent of a matrix", _compress_rows),
            ("in step 3", _compress_rest_twice),
            ("not a NoneType", _compress_no_return),
            ("has to return a function", lambda keep: keep + 1),
        ],
        "right": [_compressor, _compressor_numpy, _Compressor],
    },
}
