"""Typical wrong answers and differently written right ones, for the exercises of lesson 16."""

from functools import partial

import numpy as np

import minigrad as torch

# ------------------------------------------------------------------ 16.1


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


def _steps_as_tuple(model, make, every):
    return tuple(_steps(model, make, every))


def _colleagues(model, make, every):
    optimizers = {p: make([p]) for p in model.parameters()}
    calls = [0]

    def step(p):
        calls[0] += 1
        if calls[0] % every == 0:
            optimizers[p].step()
            p.grad = None

    return [
        p.register_post_accumulate_grad_hook(step) for p in model.parameters() if p.requires_grad
    ]


def _colleagues_divided(model, make, every):
    optimizers = {p: make([p]) for p in model.parameters()}
    calls = [0]

    def step(p):
        calls[0] += 1
        if calls[0] % every == 0:
            p.grad /= every
            optimizers[p].step()
            p.grad = None

    return [
        p.register_post_accumulate_grad_hook(step) for p in model.parameters() if p.requires_grad
    ]


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


def _act_each_pass(p, optimizer, count, every):
    p.grad /= every
    if count % every == 0:
        optimizer.step()
        p.grad = None


def _act_kept(p, optimizer, count, every):
    if count % every == 0:
        p.grad /= every
        optimizer.step()


def _act_always(p, optimizer, count, every):
    p.grad /= every
    optimizer.step()
    p.grad = None


def _act_drops(p, optimizer, count, every):
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


def _act_at_first(p, optimizer, count, every):
    if count % every == 1 or every == 1:
        p.grad /= every
        optimizer.step()
        p.grad = None


def _act_multiplies(p, optimizer, count, every):
    if count % every == 0:
        p.grad *= every
        optimizer.step()
        p.grad = None


def _act_divides_by_count(p, optimizer, count, every):
    if count % every == 0:
        p.grad /= count
        optimizer.step()
        p.grad = None


def _act_returns(p, optimizer, count, every):
    _right_act(p, optimizer, count, every)


def _returns_something(model, make, every):
    optimizers = {p: make([p]) for p in model.parameters()}

    def hook(p):
        optimizers[p].step()
        p.grad = None
        return p

    return [
        p.register_post_accumulate_grad_hook(hook) for p in model.parameters() if p.requires_grad
    ]


def _last_only(model, make, every):
    handles, counts = [], {}
    for p in model.parameters():
        if p.requires_grad:
            optimizer = make([p])

            def hook(_):
                counts[p] = counts.get(p, 0) + 1  # noqa: B023
                if p.grad is not None and counts[p] % every == 0:  # noqa: B023
                    p.grad = p.grad / every  # noqa: B023
                    optimizer.step()  # noqa: B023
                    p.grad = None  # noqa: B023

            handles.append(p.register_post_accumulate_grad_hook(hook))
    return handles


def _late_optimizer(model, make, every):
    handles, counts = [], {}
    for p in model.parameters():
        if p.requires_grad:
            optimizer = make([p])

            def hook(p):
                counts[p] = counts.get(p, 0) + 1
                if counts[p] % every == 0:
                    p.grad = p.grad / every
                    optimizer.step()  # noqa: B023
                    p.grad = None

            handles.append(p.register_post_accumulate_grad_hook(hook))
    return handles


def _common_optimizer(model, make, every):
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer, counts = make(trained), dict.fromkeys(trained, 0)

    def hook(p):
        counts[p] += 1
        if counts[p] % every == 0:
            p.grad /= every
            optimizer.step()
            p.grad = None

    return [p.register_post_accumulate_grad_hook(hook) for p in trained]


def _new_optimizer_each_time(model, make, every):
    return _stepping(lambda p, _, count, every: _right_act(p, make([p]), count, every))(
        model, make, every
    )


def _first_handle_only(model, make, every):
    return _steps(model, make, every)[:1]


def _tensor_hook(model, make, every):
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizers, counts = {p: make([p]) for p in trained}, dict.fromkeys(trained, 0)

    def hook_of(p):
        def hook(gradient):
            counts[p] += 1
            if counts[p] % every == 0:
                p.grad /= every
                optimizers[p].step()
                p.grad = None

        return hook

    return [p.register_hook(hook_of(p)) for p in trained]


def _two_arguments(model, make, every):
    return [
        p.register_post_accumulate_grad_hook(lambda p, gradient: None)
        for p in model.parameters()
        if p.requires_grad
    ]


# ------------------------------------------------------------------ 16.2

_FLOATS = (torch.float32, torch.float64)


def _halves(large=lambda t, n: t.numel() >= n, fits=lambda t: t.abs().max() <= 65504, floats=None):
    def half_hooks(fewest):
        def pack(t):
            ours = t.dtype in _FLOATS if floats is None else floats(t)
            if ours and large(t, fewest) and fits(t):
                return t.dtype, t.half()
            return t.dtype, t

        return pack, lambda packed: packed[1].to(packed[0])

    return half_hooks


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


def _halves_float_back(fewest):
    def pack(t):
        if t.dtype in _FLOATS and t.numel() >= fewest and t.abs().max() <= 65504:
            return t.half()
        return t

    return pack, lambda t: t.float() if t.dtype == torch.float16 else t


def _halves_stay(fewest):
    def pack(t):
        if t.dtype in _FLOATS and t.numel() >= fewest and t.abs().max() <= 65504:
            return t.half()
        return t

    return pack, lambda t: t


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


def _halves_nothing(fewest):
    return lambda t: t, lambda t: t


def _halves_both(fewest):
    return lambda t: (t, t.half()), lambda packed: packed[0]


def _halves_flat(fewest):
    def pack(t):
        if t.dtype in _FLOATS and t.numel() >= fewest and t.abs().max() <= 65504:
            return t.dtype, t.half().flatten()
        return t.dtype, t

    return pack, lambda packed: packed[1].to(packed[0])


def _halves_clamped(fewest):
    def pack(t):
        if t.dtype in _FLOATS and t.numel() >= fewest:
            return t.dtype, t.clamp(-65504, 65504).half()
        return t.dtype, t

    return pack, lambda packed: packed[1].to(packed[0])


def _halves_in_place(fewest):
    def pack(t):
        with torch.no_grad():
            return t.mul_(0.5) if t.is_floating_point() else t

    return pack, lambda t: t * 2


def _halves_no_return(fewest):
    def pack(t):
        t.half()

    return pack, lambda t: t


def _halves_some_returned(fewest):
    def pack(t):
        if t.dtype in _FLOATS and t.numel() >= fewest and t.abs().max() <= 65504:
            return t.half(), t.dtype

    return pack, lambda packed: packed[0].to(packed[1])


def _halves_only_pack(fewest):
    return lambda t: t.half()


def _halves_forgot(fewest):
    def pack(t):
        return t

    def unpack(t):
        return t


def _halves_tuple_mismatch(fewest):
    def pack(t):
        if t.dtype in _FLOATS and t.numel() >= fewest and t.abs().max() <= 65504:
            return t.half(), t.dtype
        return t

    def unpack(packed):
        half, dtype = packed
        return half.to(dtype)

    return pack, unpack


# ------------------------------------------------------------------ 16.3


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


def _start(p, comm, state):
    mine = p.grad.numpy()
    total = np.empty_like(mine)
    state.append((p, comm.Iallreduce(mine, total), total))


def _finish(comm, state):
    for p, request, total in state:
        request.Wait()
        p.grad.copy_(torch.from_numpy(total / comm.Get_size()))
    state.clear()


def _start_and_wait(p, comm, state):
    mine = p.grad.numpy()
    total = np.empty_like(mine)
    comm.Iallreduce(mine, total).Wait()
    p.grad.copy_(torch.from_numpy(total / comm.Get_size()))


def _start_blocking(p, comm, state):
    mine = p.grad.numpy().copy()
    comm.Allreduce(mine, p.grad.numpy())
    p.grad /= comm.Get_size()


def _finish_sum(comm, state):
    for p, request, total in state:
        request.Wait()
        p.grad.copy_(torch.from_numpy(total))
    state.clear()


def _finish_half(comm, state):
    for p, request, total in state:
        request.Wait()
        p.grad.copy_(torch.from_numpy(total / 2))
    state.clear()


def _finish_keeps(comm, state):
    for p, request, total in state:
        request.Wait()
        p.grad.copy_(torch.from_numpy(total / comm.Get_size()))


def _finish_forgets(comm, state):
    for _, request, _ in state:
        request.Wait()
    state.clear()


def _finish_no_wait(comm, state):
    for p, _, total in state:
        p.grad.copy_(torch.from_numpy(np.nan_to_num(total) / comm.Get_size()))
    state.clear()


def _finish_last(comm, state):
    p, request, total = state[-1]
    request.Wait()
    p.grad.copy_(torch.from_numpy(total / comm.Get_size()))
    state.clear()


def _finish_adds(comm, state):
    for p, request, total in state:
        request.Wait()
        p.grad += torch.from_numpy(total / comm.Get_size())
    state.clear()


def _start_same(p, comm, state):
    mine = p.grad.numpy()
    state.append((p, comm.Iallreduce(mine, mine), mine))


def _start_tensor(p, comm, state):
    total = torch.empty_like(p.grad)
    state.append((p, comm.Iallreduce(p.grad, total), total))


def _start_parameter(p, comm, state):
    mine = p.detach().numpy()
    total = np.empty_like(mine)
    state.append((p, comm.Iallreduce(mine, total), total))


def _start_returns(p, comm, state):
    _start(p, comm, state)
    return state


_BUFFER = np.zeros(100)


def _shared_memory(model, comm):
    buffers = {}

    def start(p, comm, state):
        flat = p.grad.numpy().ravel()
        buffer = buffers.setdefault(flat.dtype, np.zeros(100, flat.dtype))
        buffer[: flat.size] = flat
        total = np.empty_like(flat)
        state.append((p, comm.Iallreduce(buffer[: flat.size], total), total.reshape(p.shape)))

    return _averaging(start, _finish)(model, comm)


def _after_backward(model, comm):
    def finish():
        state = []
        for p in model.parameters():
            if p.requires_grad:
                _start(p, comm, state)
        _finish(comm, state)

    return finish


def _late_binding(model, comm):
    state = []
    for p in model.parameters():
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(
                lambda _: _start(p, comm, state) if p.grad is not None else None  # noqa: B023
            )
    return lambda: _finish(comm, state)


def _late_binding_crashes(model, comm):
    state = []
    for p in list(model.parameters())[::-1]:
        if p.requires_grad:
            p.register_post_accumulate_grad_hook(lambda _: _start(p, comm, state))  # noqa: B023
    return lambda: _finish(comm, state)


def _plain_tensor_hook(model, comm):
    state = []
    for p in model.parameters():
        if p.requires_grad:
            p.register_hook(lambda g, p=p: _start(p, comm, state))
    return lambda: _finish(comm, state)


def _calls_finish(model, comm):
    return _averaging(_start, _finish)(model, comm)()


def _forgot_finish(model, comm):
    _averaging(_start, _finish)(model, comm)


# ------------------------------------------------------------------ 16.5


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


def _buckets_forward(sizes, limit):
    many = len(sizes)
    return [[many - 1 - at for at in bucket] for bucket in _buckets(sizes[::-1], limit)]


def _buckets_more(sizes, limit):
    return _buckets(sizes, limit + 1)


def _buckets_before(sizes, limit):
    result, bucket, held = [], [], 0
    for place in reversed(range(len(sizes))):
        if bucket and held + sizes[place] > limit:
            result.append(bucket)
            bucket, held = [], 0
        bucket.append(place)
        held += sizes[place]
    return [*result, bucket]


def _buckets_no_rest(sizes, limit):
    return [b for b in _buckets(sizes, limit) if sum(sizes[p] for p in b) >= limit]


def _buckets_empty_end(sizes, limit):
    found = _buckets(sizes, limit)
    return [*found, []] if sum(sizes[p] for p in found[-1]) >= limit else found


def _buckets_never_reset(sizes, limit):
    result, bucket, held = [], [], 0
    for place in reversed(range(len(sizes))):
        bucket.append(place)
        held += sizes[place]
        if held >= limit:
            result.append(bucket)
            bucket = []
    return [*result, bucket] if bucket else result


def _buckets_carry(sizes, limit):
    made, bucket, held = [], [], 0
    for place in reversed(range(len(sizes))):
        bucket.append(place)
        held += sizes[place]
        if held >= limit:
            made.append(bucket)
            bucket, held = [], held - limit
    return [*made, bucket] if bucket else made


def _buckets_changes(sizes, limit):
    found = _buckets(sizes, limit)
    sizes.clear()
    return found


# ------------------------------------------------------------------ 16.6


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


def _compressing(remember, size=torch.abs, key=lambda name, g: name, start=None, send=None):
    def compressor(keep):
        rest = {} if start is None else start

        def compress(name, gradient):
            where = key(name, gradient)
            whole = gradient + rest.get(where, 0)
            sent = _top(whole, keep, size)
            rest[where] = remember(whole, sent, gradient)
            return sent if send is None else send(sent, gradient)

        return compress

    return compressor


def _rest_of_whole(whole, sent, gradient):
    return whole - sent


def _compress_no_memory(keep):
    return lambda name, gradient: _top(gradient, keep)


def _compress_in_place(keep):
    rest = {}

    def compress(name, gradient):
        gradient += rest.get(name, 0)
        sent = _top(gradient, keep)
        rest[name] = gradient - sent
        return sent

    return compress


def _compress_too_many(keep):
    rest = {}

    def compress(name, gradient):
        whole = gradient + rest.get(name, 0)
        best = whole.flatten().abs().topk(keep).indices
        sent = torch.zeros_like(whole).flatten()
        sent[best] = whole.flatten()[best]
        rest[name] = whole - sent.reshape(whole.shape)
        return sent.reshape(whole.shape)

    return compress


def _compress_key_error(keep):
    rest = {}

    def compress(name, gradient):
        whole = gradient + rest[name]
        rest[name] = whole - _top(whole, keep)
        return _top(whole, keep)

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


def _compress_values_only(keep):
    rest = {}

    def compress(name, gradient):
        whole = gradient + rest.get(name, 0)
        sent = _top(whole, keep)
        rest[name] = whole - sent
        return sent[sent != 0]

    return compress


def _compress_own_entries(keep):
    return _compressing(_rest_of_whole, send=lambda sent, gradient: gradient * (sent != 0))(keep)


def _steps_by_shape(model, make, every):
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizers, calls = {p: make([p]) for p in parameters}, {}

    def step(p):
        calls[p.shape] = calls.get(p.shape, 0) + 1
        if calls[p.shape] % every == 0:
            p.grad /= every
            optimizers[p].step()
            p.grad = None

    return [p.register_post_accumulate_grad_hook(step) for p in parameters]


def _smaller_rate(model, make, every):
    def make_smaller(parameters):
        optimizer = make(parameters)
        for group in optimizer.param_groups:
            group["lr"] /= every
        return optimizer

    return _stepping(_act_sum)(model, make_smaller, every)


def _counts_frozen(model, make, every):
    many = len(list(model.parameters()))
    optimizers = {p: make([p]) for p in model.parameters() if p.requires_grad}
    calls = []

    def step(p):
        calls.append(p)
        if (len(calls) - 1) // many % every == every - 1:
            p.grad /= every
            optimizers[p].step()
            p.grad = None

    return [p.register_post_accumulate_grad_hook(step) for p in optimizers]


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


def _steps_only_once(model, make, every):
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizers, calls = {p: make([p]) for p in parameters}, dict.fromkeys(parameters, 0)

    def step(p):
        calls[p] += 1
        if calls[p] == every:
            p.grad /= every
            optimizers[p].step()
            p.grad = None

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


def _put_by_rank(p, total, comm):
    p.grad = torch.from_numpy(total / (comm.Get_rank() + 1))


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


def _buckets_on_top(sizes, limit, made=[]):  # noqa: B006
    made += _buckets(sizes, limit)
    return made


def _buckets_by_index(sizes, limit):
    return [[sizes.index(sizes[place]) for place in b] for b in _buckets(sizes, limit)]


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


def _compress_chosen_before(keep):
    rest = {}

    def compress(name, gradient):
        places = gradient.abs().flatten().topk(min(keep, gradient.numel())).indices
        mask = torch.zeros(gradient.numel())
        mask[places] = 1.0
        whole = gradient + rest.get(name, 0)
        sent = whole * mask.reshape(gradient.shape)
        rest[name] = whole - sent
        return sent

    return compress


def _compress_rest_twice(keep):
    rest = {}

    def compress(name, gradient):
        whole = gradient + rest.get(name, 0)
        sent = _top(whole, keep)
        rest[name] = rest.get(name, 0) + whole - sent
        return sent

    return compress


def _compress_by_bound(keep):
    rest = {}

    def compress(name, gradient):
        whole = gradient + rest.get(name, 0)
        rest[name] = torch.where(whole.abs() < keep, whole, 0.0)
        return whole - rest[name]

    return compress


def _compress_flat(keep):
    compress = _compressor(keep)
    return lambda name, gradient: compress(name, gradient).flatten()


ANSWERS = {
    "16.1": {
        "wrong": [
            ("share a count", _steps_by_shape),
            ("for one parameter", _steps_all_at_the_end),
            ("never again", _steps_only_once),
            ("all parameters together", _colleagues),
            ("all parameters together", _colleagues_divided),
            ("the sum over the micro-batches", _stepping(_act_sum)),
            ("Divide once", _stepping(_act_each_pass)),
            ("does not empty .grad", _stepping(_act_kept)),
            ("in every micro-batch", _stepping(_act_always)),
            ("each has to stay", _stepping(_act_drops)),
            ("adds up by itself", _stepping(_act_on_sums)),
            ("that was frozen has moved", _thaws),
            ("micro-batch", _stepping(_act_at_first)),
            ("divide it by", _stepping(_act_multiplies)),
            ("goes on growing", _stepping(_act_divides_by_count)),
            ("leave those out", _stepping(_right_act, frozen=False)),
            ("Return the handles", _stepping(_right_act, returns=False)),
            ("the last one", _last_only),
            ("parameters", _late_optimizer),
            ("with Adam not", _smaller_rate),
            ("until a weight is frozen", _counts_frozen),
            ("an optimizer has a memory", _new_optimizer_each_time),
            ("still move", _first_handle_only),
            ("before the gradient is stored", _tensor_hook),
            ("nothing else", _two_arguments),
            ("return", _returns_something),
        ],
        "right": [
            _steps,
            _steps_by_class,
            _steps_by_two_hooks,
            _steps_as_tuple,
            _stepping(_right_act),
        ],
    },
    "16.2": {
        "wrong": [
            ("a sum or a norm", _halves(fits=lambda t: t.abs().sum() <= 65504)),
            ("a sum or a norm", _halves(fits=lambda t: t.norm() <= 65504)),
            ("two functions", lambda n: torch.autograd.graph.saved_tensors_hooks(*_halves()(n))),
            ("come back as floats", _halves_naive),
            ("note the dtype", _halves_float_back),
            ("float16", _halves_stay),
            ("put the note into what pack returns", _halves_last_dtype),
            ("Nothing is packed", _halves_nothing),
            ("the half and the whole", _halves_both),
            ("The shape is lost", _halves_flat),
            ("its numbers are others", _halves_clamped),
            ("changed", _halves_in_place),
            ("tensor", _halves_no_return),
            ("return something for every tensor", _halves_some_returned),
            ("two functions", _halves_only_pack),
            ("Nothing came back", _halves_forgot),
            ("both have to agree", _halves_tuple_mismatch),
            ("what does `fewest` say", _halves(large=lambda t, n: True)),
            ("just `fewest` entries", _halves(large=lambda t, n: t.numel() > n)),
            ("the large ones are left", _halves(large=lambda t, n: t.numel() < n)),
            ("rows of a matrix", _halves(large=lambda t, n: len(t) >= n)),
            ("counts entries, not bytes", _halves(large=lambda t, n: t.nbytes >= n)),
            ("came back as infinity", _halves(fits=lambda t: True)),
            ("look at the sizes", _halves(fits=lambda t: t.max() <= 65504)),
            ("still fits", _halves(fits=lambda t: t.abs().max() < 65504)),
            ("float64 is left", _halves(floats=lambda t: t.dtype == torch.float32)),
            ("one of floats", _halves(floats=lambda t: True)),
            ("rounds 65,510 down", _halves(fits=lambda t: not t.half().isinf().any())),
            ("put the note into what pack returns", _halves_common_dtype),
        ],
        "right": [_halves_by_closures, _halves(), _halves_by_class, _halves_nested],
    },
    "16.3": {
        "wrong": [
            ("changed before Wait", _averaging_with(_begin_and_divide, _put_sum)),
            ("was read before Wait", _averaging_with(_begin_and_read, lambda *_: None)),
            ("in the same memory", _averaging_with(_begin_in_common_memory, _put_mean)),
            ("It waits inside of backward", _averaging(_start_and_wait, lambda *_: None)),
            ("It waits inside of backward", _averaging(_start_blocking, lambda *_: None)),
            ("The mean is asked for", _averaging(_start, _finish_sum)),
            ("It divides by 2", _averaging(_start, _finish_half)),
            ("this process has", _averaging_with(_begin, _put_by_rank)),
            ("hooks have to stay", _hooks_taken_away),
            ("of an earlier step", _averaging(_start, _finish_keeps)),
            ("found by itself", _averaging(_start, _finish_forgets)),
            ("never waited for", _averaging(_start, _finish_no_wait)),
            ("never waited for", _averaging(_start, _finish_last)),
            ("added to", _averaging(_start, _finish_adds)),
            ("same memory", _averaging(_start_same, _finish)),
            ("as one", _averaging(_start_tensor, _finish)),
            ("are the parameters", _averaging(_start_parameter, _finish)),
            ("return nothing", _averaging(_start_returns, _finish)),
            ("leave those out", _averaging(_start, _finish, frozen=False)),
            ("from one memory", _shared_memory),
            ("no message had been started", _after_backward),
            ("loop", _late_binding),
            ("loop", _late_binding_crashes),
            ("before the gradient is stored", _plain_tensor_hook),
            ("Nothing came back", _calls_finish),
            ("Nothing came back", _forgot_finish),
        ],
        "right": [
            _average,
            _average_by_tensor_hook,
            _average_by_class,
            _averaging(_start, _finish),
        ],
    },
    "16.4": {
        "wrong": [
            ("other way round", (64, 49, 63, 47)),
            ("their order does not", [47, 49, 63, 64]),
            ("(d): the pair of layers 1 and 2 goes first", (64, 49, 47, 47)),
            ("(a): a message has a price of its own", (27, 42, 30, 42)),
            ("(b): a message has a price of its own", (64, 42, 47, 63)),
            ("(a): each message pays", (29, 49, 33, 49)),
            ("(c): each message pays", (64, 49, 33, 49)),
            ("(a): a message takes 3 ms more", (46, 31, 31, 45)),
            ("(b): a message of several layers", (64, 34, 38, 54)),
            ("(a): the line is busy", (34, 49, 37, 37)),
            ("(c): the line is busy", (64, 49, 37, 37)),
            ("(a): messages do not wait", (84, 49, 63, 63)),
            ("(c): messages do not wait", (64, 49, 63, 63)),
            ("(b): a message starts when all", (64, 29, 43, 59)),
            ("(c): a message starts when all", (64, 49, 43, 63)),
            ("(a): count from where backward begins", (40, 25, 23, 39)),
            ("(a): at 0 ms", (60, 25, 39, 39)),
            ("(a): that is when the last message starts", (54, 24, 34, 50)),
            ("(a): so long takes one message", (10, 25, 13, 13)),
            ("(a): backward and messages go on at the same time", (88, 73, 71, 87)),
            ("(b): the 7 ms come once for a message", (64, 84, 68, 84)),
            ("(a): write for each message", (62, 49, 47, 63)),
            ("(d): write for each message", torch.tensor([64.0, 49, 47, 64])),
            ("wants numbers", "c"),
            ("1 value", 47),
        ],
        "right": [
            (64, 49, 47, 63),
            [64.0, 49.0, 47.0, 63.0],
            torch.tensor([64, 49, 47, 63]),
            np.array([64, 49, 47, 63]),
            {"a": 64, "b": 49, "c": 47, "d": 63},
        ],
    },
    "16.5": {
        "wrong": [
            ("get the same place", _buckets_by_index),
            ("Begin a new list", _buckets_emptied),
            ("Whose gradient is there first", _buckets_forward),
            ("exactly the limit", _buckets_more),
            ("before it would exceed", _buckets_before),
            ("never be averaged", _buckets_no_rest),
            ("empty bucket", _buckets_empty_end),
            ("start anew", _buckets_never_reset),
            ("counted into the next", _buckets_carry),
            ("It changed", _buckets_changes),
            ("sizes", lambda s, n: [[s[p] for p in b] for b in _buckets(s, n)]),
            (
                "count from the end",
                lambda s, n: [[len(s) - 1 - p for p in b] for b in _buckets(s, n)],
            ),
            ("full first comes first", lambda s, n: _buckets(s, n)[::-1]),
            ("order of registration", lambda s, n: [sorted(b) for b in _buckets(s, n)]),
            ("an earlier call", _buckets_on_top),
            (
                "as many places",
                lambda s, n: [[*range(len(s))][::-1][k : k + 2] for k in range(0, len(s), 2)],
            ),
            ("bytes, not parameters", lambda s, n: _buckets([1] * len(s), n)),
            ("bucket of its own", lambda s, n: [[p] for p in reversed(range(len(s)))]),
            ("one bucket with everything", lambda s, n: [list(range(len(s)))[::-1]]),
            ("list of its own", lambda s, n: [p for b in _buckets(s, n) for p in b]),
            ("Some places are missing", lambda s, n: [[2, 1], [0]]),
            ("Some places are missing", lambda s, n: [[2, 1]]),
            ("Some places are missing", lambda s, n: [[0]]),
            ("None", lambda s, n: _buckets(s, n) and None),
        ],
        "right": [_buckets, _buckets_recursive, _buckets_tuples],
    },
    "16.6": {
        "wrong": [
            ("Add first", _compress_chosen_before),
            ("shape that came in", _compress_flat),
            ("is forgotten", _compress_no_memory),
            ("somebody else may need it", _compress_in_place),
            ("all of them are sent", _compress_too_many),
            ("nothing is left over yet", _compress_key_error),
            ("gave back nothing", _compress_no_return),
            ("not of each row", _compress_rows),
            ("Zeros stand", _compress_values_only),
            ("sent with them", _compress_own_entries),
            ("large negative one", _compressing(_rest_of_whole, size=lambda t: t)),
            ("The smallest", _compressing(_rest_of_whole, size=lambda t: -t.abs())),
            ("sent twice", _compressing(lambda whole, sent, gradient: whole)),
            ("is what was not", _compressing(lambda whole, sent, gradient: sent)),
            ("from earlier steps", _compressing(lambda whole, sent, gradient: gradient - sent)),
            ("wrong sign", _compressing(lambda whole, sent, gradient: sent - whole)),
            ("should be left over", _compressing(_rest_of_whole, send=lambda sent, g: g - sent)),
            ("> for >=", _compressing(_rest_of_whole, send=lambda sent, g: 0 * sent)),
            ("number of entries", _compress_by_bound),
            ("The signs are gone", _compressing(_rest_of_whole, send=lambda sent, g: sent.abs())),
            ("one of its own", _compressing(_rest_of_whole, key=lambda name, g: 0)),
            ("one of its own", _compressing(_rest_of_whole, key=lambda name, g: tuple(g.shape))),
            ("once only", _compress_rest_twice),
            ("inside of compressor", _compressing(_rest_of_whole, start={})),
        ],
        "right": [_compressor, _compressor_numpy, _Compressor, _compressing(_rest_of_whole)],
    },
}
