"use strict";
// A small reverse-mode autograd with PyTorch's hooks. Every tensor holds one number, in as many
// brackets as it has dimensions. Numbers are float64, and each operation rounds as PyTorch's does.

class Tensor {
  constructor(value, dim, node = null, nr = 0) { Object.assign(this, { value, dim, node, nr, grad: null }); }
  // The node that gets this tensor's gradient, and the number of the node's output.
  get edge() {
    if (!this.node && !this.accumulate) { this.accumulate = accumulateNode(this); }
    return [this.node || this.accumulate, this.nr];
  }
  get leaf() { return !this.node; }
  registerHook(hook) { this.edge[0].pre.push([this.nr, hook]); }
}

let created = 0; // nodes; of those that are ready, the latest runs first

class Node {
  // apply: the gradients of the outputs -> those of the inputs. null is a gradient that isn't there.
  constructor(name, inputs, apply, spot) {
    Object.assign(this, { name, apply, spot, pre: [], post: [], outputs: [] });
    this.next = inputs.map(input => input && input.edge);
    this.seq = ++created;
  }
}

function accumulateNode(leaf) {
  const node = new Node("AccumulateGrad", [], ([grad], log) => {
    if (grad) {
      leaf.grad = leaf.grad ? like(leaf.grad, leaf.grad.value + grad.value) : grad;
      log.push({ type: "accumulate", node, leaf, grad: leaf.grad });
    }
    for (const hook of leaf.postAccumulate || []) { hook(leaf); }
    return [];
  }, leaf.spot);
  node.seq = Infinity;
  node.outputs = [leaf];
  return node;
}

const like = (tensor, value) => ({ value, dim: tensor.dim });

// An operation: its node's name, its result, its inputs (null: a number), and its rule.
function operation(name, value, dim, inputs, rule, spot) {
  const node = new Node(name, inputs, ([grad]) => grad ? rule(grad) : inputs.map(() => null), spot);
  return node.outputs[0] = new Tensor(value, dim, node);
}

const ops = {
  add: (a, b, spot) => operation("AddBackward0", a.value + b.value, a.dim, [a, b], g => [g, g], spot),
  minus: (a, number, spot) => operation("SubBackward0", a.value - number, a.dim, [a, null], g => [g, null], spot),
  mul: (a, b, spot) => operation("MulBackward0", a.value * b.value, a.dim, [a, b],
    g => [like(a, g.value * b.value), like(b, g.value * a.value)], spot),
  square: (a, spot) => operation("PowBackward0", a.value * a.value, a.dim, [a],
    g => [like(a, g.value * (2 * a.value))], spot),
  tanh: (a, spot, y = Math.tanh(a.value)) => operation("TanhBackward0", y, a.dim, [a],
    g => [like(a, g.value * (1 - y * y))], spot),
  view: (a, dim, spot) => operation("ViewBackward0", a.value, dim, [a], g => [like(a, g.value)], spot),
  transpose: (a, spot) => operation("TBackward0", a.value, 2, [a], g => [g], spot),
  addmm: (bias, a, b, spot) => operation("AddmmBackward0", bias.value + a.value * b.value, 2, [bias, a, b],
    g => [like(bias, g.value), like(a, g.value * b.value), like(b, g.value * a.value)], spot),
  // What nn.Linear does: a matrix goes into addmm, a vector becomes a matrix first.
  linear(x, weight, bias, spot) {
    const rows = x.dim === 2 ? x : ops.view(x, 2, spot + ".view_in");
    const y = ops.addmm(bias, rows, ops.transpose(weight, spot + ".t"), spot + ".addmm");
    return x.dim === 2 ? y : ops.view(y, x.dim, spot + ".view_out");
  },
};

// Lead tensors through one node that passes gradients on, with zeros for those that aren't there.
function identity(tensors, spot) {
  const node = new Node("BackwardHookFunctionBackward", tensors,
    grads => grads.map((grad, nr) => grad || like(tensors[nr], 0)), spot);
  node.outputs = tensors.map((tensor, nr) => new Tensor(tensor.value, tensor.dim, node, nr));
  return node;
}

class Module {
  constructor(name, forward, everywhere) {
    Object.assign(this, { name, forward, everywhere, full: [], pre: [], legacy: [] });
  }
  // Full hooks sit on identity nodes at the inputs and the output; a legacy hook on the node that
  // made the result, whichever that is.
  call(spot, ...inputs) {
    const full = [...this.everywhere, ...this.full];
    const watched = full.length + this.pre.length > 0;
    let gradOutput = null;
    if (watched) {
      const entrance = identity(inputs, spot + ".in");
      entrance.post.push(gradInput =>
        full.reduce((grads, hook) => hook(grads, gradOutput, this, entrance) || grads, gradInput));
      inputs = entrance.outputs;
    }
    let result = this.forward(...inputs);
    if (watched) {
      const exit = identity([result], spot + ".out");
      exit.post.push((zerosForNone, arrived) => {
        gradOutput = this.pre.reduce((grads, hook) => hook(grads, this, exit) || grads, arrived);
        return gradOutput;
      });
      [result] = exit.outputs;
    }
    for (const hook of this.legacy) {
      const { node } = result;
      node.post.push((gradInput, grads) => hook(gradInput, grads, this, node));
    }
    return result;
  }
}

// Run the backward pass. The log gets one entry for each call of a hook (from the hooks), for each
// rule, and for each gradient added to a .grad; `passed` says when a tensor's gradient was complete.
function backward(root, log) {
  const waiting = new Map(), arrived = new Map(), ready = [root.node];
  const count = (node) => {
    for (const [next] of node.next.filter(Boolean)) {
      if (!waiting.has(next)) { waiting.set(next, 0); count(next); }
      waiting.set(next, waiting.get(next) + 1);
    }
  };
  count(root.node);
  arrived.set(root.node, [{ value: 1, dim: root.dim }]);
  while (ready.length) {
    const latest = ready.reduce((best, node, at) => node.seq > ready[best].seq ? at : best, 0);
    const [node] = ready.splice(latest, 1), grads = arrived.get(node);
    for (const [nr, hook] of node.pre) {
      const changed = hook(grads[nr], node);
      if (changed !== undefined) { grads[nr] = changed; }
    }
    node.outputs.forEach((tensor, nr) => Object.assign(tensor, { arrived: grads[nr], passed: log.length }));
    let sent = node.apply(grads, log);
    if (node.name !== "AccumulateGrad") { log.push({ type: "rule", node, grads, sent }); }
    for (const hook of node.post) { sent = hook(sent, grads) || sent; }
    node.next.forEach((edge, at) => {
      if (!edge) { return; }
      const [next, nr] = edge, before = arrived.get(next) || next.outputs.map(() => null);
      if (sent[at]) {
        before[nr] = before[nr] ? like(before[nr], before[nr].value + sent[at].value) : sent[at];
      }
      arrived.set(next, before);
      waiting.set(next, waiting.get(next) - 1);
      if (!waiting.get(next)) { ready.push(next); }
    });
  }
}

// --- Scenes: a graph, its values, and hooks in order of registration ---
const KINDS = {
  tensor: { letter: "T", name: "tensor hook", on: "tensor",
    about: "Gets the gradient of one tensor. What it returns replaces that gradient." },
  post: { letter: "A", name: "post-accumulate-grad hook", on: "leaf",
    about: "Gets a leaf once its .grad is complete, and may change that .grad." },
  full: { letter: "F", name: "full backward hook", on: "module",
    about: "Gets grad_input and grad_output: gradients of a module's inputs and outputs. May change grad_input." },
  pre: { letter: "P", name: "full backward pre-hook", on: "module",
    about: "Gets grad_output before the module uses it. May return a new grad_output." },
  legacy: { letter: "L", name: "legacy backward hook", on: "module",
    about: "Deprecated. Gets the gradients of the module's last operation, not those of the module." },
  global: { letter: "G", name: "global full backward hook", on: "everywhere",
    about: "A full backward hook on every module at once. It goes on the bar above the loss." },
};
const ACTIONS = {
  watch: { name: "only watches" },
  scale: { name: "scales by", amount: 2, apply: (v, by) => by * v },
  clip: { name: "clips to ±", amount: 0.1, apply: (v, most) => Math.min(Math.max(v, -most), most) },
  flip: { name: "flips the sign", apply: v => -v },
  zero: { name: "zeroes", apply: () => 0 },
  cut: { name: "cuts (None)" },
};
// A tensor hook that returns None keeps its gradient, so it can't cut.
const allows = (kind, action) => action !== "cut" || kind !== "tensor";

// What a hook returns for the gradients it is given; undefined if it only watches.
function act({ action, amount }, grads) {
  if (action === "watch") { return undefined; }
  const { apply } = ACTIONS[action];
  return grads.map(grad => grad && apply ? like(grad, apply(grad.value, amount)) : null);
}

// Run a scene forward and backward: its tensors by name, the log, and the calls of hooks in it.
function run({ graph, values, hooks }) {
  created = 0;
  const tensors = {}, everywhere = [], log = [];
  const call = (hook, node, module, ...sees) => {
    const returned = act(hook, sees[0][1]);
    log.push({ type: "hook", number: hooks.indexOf(hook) + 1, node, module: module && module.name, sees, returned });
    return returned;
  };
  const onModule = hook => hook.kind === "pre"
    ? (gradOutput, module, node) => call(hook, node, module, ["grad_output", gradOutput])
    : (gradInput, gradOutput, module, node) =>
      call(hook, node, module, ["grad_input", gradInput], ["grad_output", gradOutput]);
  const at = (name, kind) => hooks.filter(hook => hook.place === name && hook.kind === kind);
  const keep = (name, tensor) => {
    tensors[name] = tensor;
    for (const hook of at(name, "tensor")) {
      tensor.registerHook((grad, node) => (call(hook, node, null, ["grad", [grad]]) || [])[0]);
    }
    return tensor;
  };
  const leaf = (name, dim) => {
    const made = Object.assign(new Tensor(values[name], dim), { spot: name });
    made.postAccumulate = at(name, "post").map(hook => () => {
      const changed = call(hook, made.accumulate, null, [".grad", [made.grad]]);
      if (changed) { [made.grad] = changed; }
    });
    return keep(name, made);
  };
  const module = (name, forward) => {
    const made = new Module(name, forward, everywhere);
    for (const kind of ["full", "pre", "legacy"]) { made[kind].push(...at(name, kind).map(onModule)); }
    return made;
  };
  everywhere.push(...at("everywhere", "global").map(onModule));
  backward(GRAPHS[graph].build({ ...ops, keep, leaf, module, value: name => values[name] }), log);
  return { tensors, log };
}

// --- Numbers as text: what the scene's code prints ---
// Python's f"{value:.4f}": a tie goes to the even digit.
function fixed(value, digits = 4) {
  const size = Math.abs(value), scaled = size * 10 ** digits, down = Math.floor(scaled);
  const tie = Number.isInteger(size * 2 ** (digits + 1)) && scaled - down === 0.5 && down % 2 === 0;
  return tie ? (value < 0 ? "-" : "") + (down / 10 ** digits).toFixed(digits) : value.toFixed(digits);
}
// The last bits of a matrix product differ from machine to machine, so they are rounded off first.
const number = value => fixed(Number(Number(value.toPrecision(12)).toFixed(9)) + 0);
const show = grad => grad ? "[".repeat(grad.dim) + number(grad.value) + "]".repeat(grad.dim) : "None";
const showAll = grads => "(" + grads.map(show).join(", ") + ")";
