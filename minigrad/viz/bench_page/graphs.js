"use strict";
// The graphs to choose from. `build` runs the forward pass on the engine; `classes`, `make` and
// `forward` are the same in Python. The picture: `at` gives places of tensors and of nodes (x in
// percent, y in pixels), `boxes` the modules, `lines` what is connected. `inner` says how the
// scene's code reaches the tensors that aren't leaves. All values but the target are leaves.

const LINEAR = `def linear(weight, bias):
    layer = nn.Linear(1, 1)
    with torch.no_grad():
        layer.weight.fill_(weight)
        layer.bias.fill_(bias)
    return layer`;

// A module of the user's own: what __init__ makes, and forward.
const moduleClass = (name, parts, inputs, lines) => [
  `class ${name}(nn.Module):`,
  ...(parts.length ? ["    def __init__(self):", "        super().__init__()"] : []),
  ...parts.map(part => "        " + part), ...(parts.length ? [""] : []),
  `    def forward(self, ${inputs}):`, ...lines.map(line => "        " + line)].join("\n");

const vector = (name, v) => `${name} = torch.tensor([${v(name)}], requires_grad=True)`;
const matrix = (name, v) => `${name} = torch.tensor([[${v(name)}]], requires_grad=True)`;

// The end of every graph: the squared distance from the target.
const squaredError = (g, output) => g.keep("loss", g.square(g.minus(output, g.value("target"), "sub"), "pow"));
const lossAt = { loss: [50, 22], pow: [50, 55, "Pow"], sub: [50, 73, "Sub"] };
// A Linear in the picture: addmm, the transposed weight, and a view on both sides if `views`.
const linearAt = (spot, y, views) => ({ [spot + ".addmm"]: [50, y, "Addmm"], [spot + ".t"]: [39.3, y, "T"],
  ...(views && { [spot + ".view_out"]: [50, y - 18, "View"], [spot + ".view_in"]: [50, y + 18, "View"] }) });

const GRAPHS = {
  worked: {
    title: "The worked example", about: "f1 is a Linear, then a square.",
    values: { x: 0.3, "f0.weight": 0.3, "f0.bias": 0.1, "f1.f.weight": 0.4, "f1.f.bias": 0.2, target: 1 },
    modules: { net: "Net", f0: "Linear", f1: "SLinear", "f1.f": "Linear" },
    inner: { x1: "net.x1", s: "net.f1.s", y: "y", loss: "loss" },
    classes: v => [LINEAR,
      moduleClass("SLinear", [`self.f = linear(${v("f1.f.weight")}, ${v("f1.f.bias")})`], "x1",
        ["self.s = self.f(x1)", "return self.s**2"]),
      moduleClass("Net", [`self.f0 = linear(${v("f0.weight")}, ${v("f0.bias")})`,
        "self.f1 = SLinear()"], "x", ["self.x1 = self.f0(x)", "return self.f1(self.x1)"])],
    make: v => ["net = Net()", vector("x", v)], forward: "y = net(x)",
    build(g) {
      const x = g.leaf("x", 1), w0 = g.leaf("f0.weight", 2), b0 = g.leaf("f0.bias", 1);
      const w1 = g.leaf("f1.f.weight", 2), b1 = g.leaf("f1.f.bias", 1);
      const f0 = g.module("f0", x => g.linear(x, w0, b0, "f0"));
      const f = g.module("f1.f", x1 => g.linear(x1, w1, b1, "f1.f"));
      const f1 = g.module("f1", x1 => g.square(g.keep("s", f.call("f1.f", x1)), "square"));
      const net = g.module("net", x => f1.call("f1", g.keep("x1", f0.call("f0", x))));
      return squaredError(g, g.keep("y", net.call("net", x)));
    },
    at: { ...lossAt, y: [50, 105], square: [50, 176, "Pow"], s: [50, 211], ...linearAt("f1.f", 279, true),
      "f1.f.weight": [18.5, 291], "f1.f.bias": [81.5, 291], x1: [50, 375], ...linearAt("f0", 445, true),
      "f0.weight": [18.5, 457], "f0.bias": [81.5, 457], x: [50, 540] },
    boxes: [["net", "net", 0, 130, 100, 511], ["f1", "f1", 1, 156, 99, 345], ["f1.f", "f1.f", 2, 236, 98, 321],
      ["f0", "f0", 1, 402, 99, 487]],
    lines: ["loss pow sub y square s f1.f.view_out f1.f.addmm f1.f.view_in x1 f0.view_out f0.addmm",
      "f0.addmm f0.view_in x", "f1.f.addmm f1.f.t f1.f.weight", "f1.f.addmm f1.f.bias",
      "f0.addmm f0.t f0.weight", "f0.addmm f0.bias"],
  },
  linear: {
    title: "A Linear alone", about: "Its input is a matrix, so its last operation is addmm, with three inputs.",
    values: { x: 0.5, weight: 0.8, bias: -0.3, target: 1 },
    modules: { net: "Linear" }, inner: { y: "y", loss: "loss" },
    classes: () => [LINEAR], forward: "y = net(x)",
    make: v => [`net = linear(${v("weight")}, ${v("bias")})`, matrix("x", v)],
    build(g) {
      const x = g.leaf("x", 2), weight = g.leaf("weight", 2), bias = g.leaf("bias", 1);
      const net = g.module("net", x => g.linear(x, weight, bias, "net"));
      return squaredError(g, g.keep("y", net.call("net", x)));
    },
    at: { ...lossAt, y: [50, 105], ...linearAt("net", 192), weight: [18.5, 200], bias: [81.5, 200], x: [50, 290] },
    boxes: [["net", "net", 0, 130, 100, 252]],
    lines: ["loss pow sub y net.addmm x", "net.addmm net.t weight", "net.addmm bias"],
  },
  sum: {
    title: "A sum of three: x + y + z", about: "Two additions: first x + y, then + z.",
    values: { x: 0.2, y: 0.5, z: -0.4, target: 1 },
    modules: { net: "Sum" }, inner: { xy: "net.xy", out: "out", loss: "loss" },
    classes: () => [moduleClass("Sum", [], "x, y, z", ["self.xy = x + y", "return self.xy + z"])],
    make: v => ["net = Sum()", ...["x", "y", "z"].map(name => vector(name, v))], forward: "out = net(x, y, z)",
    build(g) {
      const [x, y, z] = ["x", "y", "z"].map(name => g.leaf(name, 1));
      const net = g.module("net", (x, y, z) => g.add(g.keep("xy", g.add(x, y, "add1")), z, "add2"));
      return squaredError(g, g.keep("out", net.call("net", x, y, z)));
    },
    at: { ...lossAt, out: [50, 105], add2: [50, 190, "Add"], xy: [32, 232], add1: [32, 274, "Add"],
      x: [16.5, 350], y: [50, 350], z: [83.5, 350] },
    boxes: [["net", "net", 0, 130, 100, 312]],
    lines: ["loss pow sub out add2 xy add1 x", "add1 y", "add2 z"],
  },
  diamond: {
    title: "A diamond", about: "x is used twice, so two gradients meet there and are added.",
    values: { x: 0.5, p: 1.5, q: -0.8, target: 1 },
    modules: { net: "Diamond" }, inner: { a: "net.a", b: "net.b", y: "y", loss: "loss" },
    classes: v => [moduleClass("Diamond", [`self.p = nn.Parameter(torch.tensor([${v("p")}]))`,
      `self.q = nn.Parameter(torch.tensor([${v("q")}]))`], "x",
    ["self.a = self.p * x", "self.b = self.q + x", "return self.a * self.b"])],
    make: v => ["net = Diamond()", vector("x", v)], forward: "y = net(x)",
    build(g) {
      const [x, p, q] = ["x", "p", "q"].map(name => g.leaf(name, 1));
      const net = g.module("net", x =>
        g.mul(g.keep("a", g.mul(p, x, "mul_a")), g.keep("b", g.add(q, x, "add_b")), "mul_y"));
      return squaredError(g, g.keep("y", net.call("net", x)));
    },
    at: { ...lossAt, y: [50, 105], mul_y: [50, 190, "Mul"], a: [29, 234], b: [71, 234],
      mul_a: [29, 276, "Mul"], add_b: [71, 276, "Add"], p: [18.5, 322], q: [81.5, 322], x: [50, 404] },
    boxes: [["net", "net", 0, 130, 100, 366]],
    lines: ["loss pow sub y mul_y a mul_a p", "mul_y b add_b q", "mul_a x", "add_b x"],
  },
  twice: {
    title: "A module used twice", about: "y = f(f(x)): one Linear, called twice, so its hooks are called twice.",
    values: { x: 0.5, "f.weight": 0.8, "f.bias": 0.1, target: 1 },
    modules: { net: "Net", f: "Linear" }, inner: { h: "net.h", y: "y", loss: "loss" },
    classes: v => [LINEAR, moduleClass("Net", [`self.f = linear(${v("f.weight")}, ${v("f.bias")})`],
      "x", ["self.h = self.f(x)", "return self.f(self.h)"])],
    make: v => ["net = Net()", matrix("x", v)], forward: "y = net(x)",
    build(g) {
      const x = g.leaf("x", 2), weight = g.leaf("f.weight", 2), bias = g.leaf("f.bias", 1);
      let calls = 0;
      const f = g.module("f", x => g.linear(x, weight, bias, ["f1st", "f2nd"][calls++]));
      const net = g.module("net", x => f.call("f2nd", g.keep("h", f.call("f1st", x))));
      return squaredError(g, g.keep("y", net.call("net", x)));
    },
    at: { ...lossAt, y: [50, 105], ...linearAt("f2nd", 208), h: [50, 264], ...linearAt("f1st", 390),
      "f.weight": [18.5, 303], "f.bias": [81.5, 303], x: [50, 480] },
    boxes: [["net", "net", 0, 130, 100, 444], ["f", "f2nd", 27, 158, 73, 236], ["f", "f1st", 27, 340, 73, 418]],
    lines: ["loss pow sub y f2nd.addmm h f1st.addmm x", "f2nd.addmm f2nd.t f.weight", "f1st.addmm f1st.t f.weight",
      "f2nd.addmm f.bias", "f1st.addmm f.bias"],
  },
  residual: {
    title: "A residual block", about: "y = x + tanh(f(x)): one path through f and act, one around them.",
    values: { x: 0.6, "f.weight": 1.2, "f.bias": -0.4, target: 1 },
    modules: { net: "Block", f: "Linear", act: "Tanh" }, inner: { h: "net.h", a: "net.a", y: "y", loss: "loss" },
    classes: v => [LINEAR, moduleClass("Block", [`self.f = linear(${v("f.weight")}, ${v("f.bias")})`,
      "self.act = nn.Tanh()"], "x", ["self.h = self.f(x)", "self.a = self.act(self.h)", "return x + self.a"])],
    make: v => ["net = Block()", matrix("x", v)], forward: "y = net(x)",
    build(g) {
      const x = g.leaf("x", 2), weight = g.leaf("f.weight", 2), bias = g.leaf("f.bias", 1);
      const f = g.module("f", x => g.linear(x, weight, bias, "f"));
      const act = g.module("act", h => g.tanh(h, "tanh"));
      const branch = x => g.keep("a", act.call("act", g.keep("h", f.call("f", x))));
      const net = g.module("net", x => g.add(x, branch(x), "add"));
      return squaredError(g, g.keep("y", net.call("net", x)));
    },
    at: { ...lossAt, y: [50, 105], add: [50, 192, "Add"], a: [50, 232], tanh: [50, 313, "Tanh"],
      h: [50, 370], ...linearAt("f", 455), "f.weight": [18.5, 452], "f.bias": [18.5, 523],
      bend1: [88, 232], bend2: [88, 583], x: [50, 617] },
    boxes: [["net", "net", 0, 130, 100, 577], ["act", "act", 28, 259, 72, 343], ["f", "f", 1.5, 397, 76, 555]],
    lines: ["loss pow sub y add a tanh h f.addmm x", "f.addmm f.t f.weight", "f.addmm f.bias", "add bend1 bend2 x"],
  },
};

// --- What is where, and what may go there ---
const leavesOf = graph => Object.keys(GRAPHS[graph].values).filter(name => name !== "target");
const innerOf = graph => Object.keys(GRAPHS[graph].inner);
const tensorsOf = graph => [...leavesOf(graph), ...innerOf(graph)];
const placesFor = (kind, graph) => ({ tensor: tensorsOf(graph), leaf: leavesOf(graph),
  module: Object.keys(GRAPHS[graph].modules), everywhere: ["everywhere"] })[KINDS[kind].on];

// Why a hook can't be added there, or "": PyTorch refuses legacy beside full on one module.
function refusal(kind, place, { graph, hooks }) {
  const { on, name } = KINDS[kind];
  const goes = { tensor: "a tensor", leaf: "a leaf", module: "a module", everywhere: "the bar “every module”" };
  if (!placesFor(kind, graph).includes(place)) { return `A ${name} goes on ${goes[on]}.`; }
  const other = { full: "legacy", legacy: "full" }[kind];
  return other && hooks.some(hook => hook.kind === other && hook.place === place)
    ? `PyTorch refuses full and legacy hooks on one module, and ${place} has a ${other} one.` : "";
}

// --- Scenes as text, for the address: worked;0.3,0.3,0.1,0.4,0.2,1;full:f1:scale:2 ---
const round4 = value => Math.round(value * 1e4) / 1e4;
const within = (value, most) => Math.min(Math.max(round4(Number(value)), -most), most);

function encode({ graph, values, hooks }) {
  const told = hooks.map(({ kind, place, action, amount }) =>
    [kind, place, action, ...("amount" in ACTIONS[action] ? [amount] : [])].join(":"));
  return [graph, Object.values(values).join(","), ...told].join(";");
}
// What can't be understood is left out.
function decode(text) {
  const [graph, values = "", ...hooks] = text.replace(/^#/, "").split(";");
  if (!Object.hasOwn(GRAPHS, graph)) { return null; }
  const scene = { graph, values: { ...GRAPHS[graph].values }, hooks: [] };
  Object.keys(scene.values).forEach((name, at) => {
    const value = values.split(",")[at];
    if (value && Number.isFinite(Number(value))) { scene.values[name] = within(value, 10); }
  });
  for (const [kind, place, action, amount] of hooks.map(told => told.split(":"))) {
    if (Object.hasOwn(KINDS, kind) && Object.hasOwn(ACTIONS, action) && allows(kind, action)
        && !refusal(kind, place, scene)) { addHook(scene, kind, place, action, amount); }
  }
  return scene;
}
function addHook(scene, kind, place, action, amount) {
  const hook = { kind, place, action };
  setAmount(hook, amount);
  scene.hooks.push(hook);
  return hook;
}
// Set by how much a hook scales, or to what it clips; undefined: what is usual.
function setAmount(hook, amount) {
  const given = amount === "" ? NaN : Number(amount);
  hook.amount = Number.isFinite(given) ? within(given, 10) : ACTIONS[hook.action].amount;
  if (hook.action === "clip") { hook.amount = Math.abs(hook.amount); }
}
