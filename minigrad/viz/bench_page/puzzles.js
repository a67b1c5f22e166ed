"use strict";
// Twelve levels: gradients came out, which hook sits where? Any hooks that give the same results
// solve a level: the same .grad of each leaf and, where `prints`, the same printed gradients.

const PUZZLES = [
  { title: "One leaf", graph: "worked", kinds: ["tensor"], start: ["flip"], solution: ["tensor:f0.bias:flip"],
    task: "One tensor hook flips a sign. Only one .grad changed.",
    hint: "A hook changes what lies between its place and the leaves. Below a leaf there is nothing.",
    because: "Nothing lies below a leaf, so this hook changes one .grad only." },
  { title: "Three at once", graph: "worked", kinds: ["tensor"], solution: ["tensor:x1:scale:2"],
    task: "One tensor hook doubles a gradient. Three of the five doubled.",
    hint: "Follow the three leaves up toward the loss. Where do their paths first meet?",
    because: "The paths to x, f0.weight and f0.bias all pass x1. Those to the parameters of f1 don't." },
  { title: "Two paths", graph: "diamond", kinds: ["tensor"], start: ["zero"], solution: ["tensor:a:zero"],
    task: "One tensor hook zeroes a gradient. x still gets one, by the other path.",
    hint: "p.grad is zero and q.grad isn't. Which tensor lies between the loss and p, but not q?",
    because: "p's gradient comes through a alone. x gets one through a and one through b, and kept the second." },
  { title: "None", graph: "worked", kinds: ["tensor", "post"], start: ["zero"], solution: ["post:f0.weight:cut"],
    task: "One .grad is None, not zero. One hook did it.",
    hint: "A tensor hook that returns None changes nothing. Which kind sets .grad itself? Let it cut.",
    because: "This hook gets the leaf and may set its .grad to None. From a tensor hook, None means “no change”." },
  { title: "A module's inputs", graph: "worked", kinds: ["full"],
    solution: ["full:f1:scale:2"], prints: true, task: "One full backward hook doubles the grad_input that it printed:",
    hint: "grad_output is the gradient of y, and grad_input that of x1. Which module lies between them?",
    because: "grad_input is the gradient of x1, the input of f1. What the hook returns flows on to f0 and x." },
  { title: "Before or after", graph: "worked", kinds: ["full", "pre"],
    solution: ["pre:f1:scale:2"], task: "One hook doubled all five.",
    hint: "The parameters of f1 doubled too, so the gradient changed before f1 used it. Three places are right.",
    because: "A pre-hook changes grad_output before its module uses it, so the parameters inside double too." },
  { title: "The residual path", graph: "residual", kinds: ["full", "pre"], start: ["zero"], solution: ["full:f:zero"],
    task: "One hook zeroes a gradient. f.weight and f.bias kept theirs, x lost a part of its own.",
    hint: "x gets two gradients: one around f and act, one through them. Only the first is left.",
    because: "grad_input goes on to x, not to f's parameters. x kept the part that comes around f and act." },
  { title: "Once, called twice", graph: "twice", kinds: ["full", "pre"],
    solution: ["full:f:scale:2"], task: "One hook doubles, yet x.grad is four times what it was.",
    hint: "f runs twice, so its hook is called twice. The second call sees what the first returned.",
    because: "A full hook runs at each call of its module. Both calls of f lie on the way to x: 2 · 2 = 4." },
  { title: "Order of registration", graph: "worked", kinds: ["tensor"], start: ["clip", 0.1],
    solution: ["tensor:x1:clip:0.1", "tensor:x1:scale:3"], prints: true,
    task: "Two tensor hooks sit on one tensor. Each printed what it got:",
    hint: "The second hook gets what the first returned. What turns -0.4080 into -0.1, and that into -0.3?",
    because: "Hooks of one tensor run in order of registration, and each gets what the one before returned." },
  { title: "Everywhere", graph: "worked", kinds: ["full", "global"],
    solution: ["global:everywhere:scale:2"], task: "One hook doubles, yet x.grad is sixteen times what it was.",
    hint: "Two, four, eight, sixteen: the hook must be called once for each of four modules.",
    because: "A global hook runs at each of the four modules and doubles what flows on to x: 2 · 2 · 2 · 2 = 16." },
  { title: "One entry short", graph: "sum", kinds: ["full", "pre", "legacy"], solution: ["legacy:net:scale:2"],
    prints: true, task: "One hook doubles. Its module has three inputs, but its grad_input has two entries.",
    hint: "A legacy hook sits on the module's last operation. How many inputs does the last addition have?",
    because: "A legacy hook sits on the module's last operation. Here that is xy + z, with two inputs." },
  { title: "The last operation", graph: "worked", kinds: ["full", "pre", "legacy"], solution: ["legacy:f0:scale:2"],
    prints: true, task: "A Linear runs addmm on three inputs. Its hook printed one entry, yet weight and bias doubled.",
    hint: "x is a vector, so f0 ends with a view, not with addmm. Which kind sits on the last operation?",
    because: "The last operation is the view after addmm. Its one grad_input is doubled before addmm uses it." },
];

const sceneOf = (graph, hooks) => decode([graph, "", ...hooks].join(";"));

// What a level lets you see of a run: the .grad of each leaf, and what hooks printed.
function observed({ graph, prints }, scene) {
  const { tensors, log } = run(scene), calls = log.filter(({ type }) => prints && type === "hook");
  return { grads: leavesOf(graph).map(name => [name, show(tensors[name].grad)]),
    prints: calls.map(({ sees }) => sees.map(([name, seen]) => `${name} ${showAll(seen)}`).join(" ")) };
}

// Compare a try with a level's solution: [] if it is right, else what differs and what that means.
function mistakes(level, scene) {
  const [wanted, plain] = [level.solution, []].map(hooks => observed(level, sceneOf(level.graph, hooks)));
  const got = observed(level, scene), found = [];
  if (!scene.hooks.length) { found.push({ text: "There is no hook yet. Choose a kind, then a place in the graph." }); }
  wanted.grads.forEach(([name, goal], n) => {
    const [[, yours], [, before]] = [got.grads[n], plain.grads[n]];
    const why = goal === before ? "It should not change: your hook reaches too far."
      : yours === before ? "It should change, but no hook changes it." : "A hook reaches it, but does something else.";
    if (yours !== goal) { found.push({ name, text: `${name}.grad should be ${goal}, yours is ${yours}. ${why}` }); }
  });
  const count = Math.max(wanted.prints.length, got.prints.length);
  const at = Array.from({ length: count }).findIndex((_, n) => wanted.prints[n] !== got.prints[n]);
  if (at >= 0 && scene.hooks.length) {
    found.push({ text: `Call ${at + 1} should print ${wanted.prints[at] || "nothing: there is none"}. ${
      got.prints[at] ? `Yours prints ${got.prints[at]}.` : "Yours prints nothing."}` });
  }
  const [most, have] = [level.solution.length, scene.hooks.length];
  if (found.length && have > most) { found.unshift({ text: `You have ${have} hooks, and ${most} will do.` }); }
  return found;
}
