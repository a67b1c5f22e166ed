"use strict";
// Twelve levels: gradients came out, which hook sits where? Any hooks that give the same results
// solve a level: the same .grad of each leaf and, where `prints`, the same printed gradients.

const PUZZLES = [
  { title: "One leaf", graph: "worked", kinds: ["tensor"], start: ["flip"],
    solution: ["tensor:f0.bias:flip"],
    task: "One tensor hook flips a sign. Only one .grad changed.",
    hint: "A hook changes what lies between its place and the leaves. Nothing lies beyond a leaf." },
  { title: "Three at once", graph: "worked", kinds: ["tensor"], start: ["scale", 2],
    solution: ["tensor:x1:scale:2"],
    task: "One tensor hook doubles a gradient. Three of the five doubled.",
    hint: "Go up from the three leaves. Where do their ways to the loss first meet?" },
  { title: "A closed road", graph: "diamond", kinds: ["tensor"], start: ["zero"],
    solution: ["tensor:a:zero"],
    task: "One tensor hook zeroes a gradient. x still gets one, by the other road.",
    hint: "p.grad is zero and q.grad isn't. Which tensor lies between the loss and p, but not q?" },
  { title: "None", graph: "worked", kinds: ["tensor", "post"], start: ["zero"],
    solution: ["post:f0.weight:cut"],
    task: "One .grad is None: not zero, None.",
    hint: "A tensor hook that returns None changes nothing. Which kind can put None into .grad?" },
  { title: "A module's inputs", graph: "worked", kinds: ["full"], start: ["scale", 2],
    solution: ["full:f1:scale:2"], prints: true,
    task: "One full backward hook doubles grad_input. Below is what it printed.",
    hint: "grad_output is the gradient of the module's output. Which module's output is y?" },
  { title: "Before or after", graph: "worked", kinds: ["full", "pre"], start: ["scale", 2],
    solution: ["pre:f1:scale:2"],
    task: "All five doubled. One hook did it.",
    hint: "The parameters of f1 doubled too, so the gradient changed before f1 used it." },
  { title: "Around the block", graph: "residual", kinds: ["full", "pre"], start: ["zero"],
    solution: ["full:f:zero"],
    task: "One hook zeroes. f.weight and f.bias kept their gradients, x lost a part of its own.",
    hint: "x gets two gradients: one around f and act, one through them. Only one of them is left." },
  { title: "Once, called twice", graph: "twice", kinds: ["full", "pre"], start: ["scale", 2],
    solution: ["full:f:scale:2"],
    task: "One hook that doubles, and x.grad is four times what it was.",
    hint: "f runs twice, so its hook is called twice. The second call sees what the first returned." },
  { title: "First come, first served", graph: "worked", kinds: ["tensor"], start: ["clip", 0.1],
    solution: ["tensor:x1:clip:0.1", "tensor:x1:scale:3"], prints: true,
    task: "Two tensor hooks on one tensor. Below is what each of them printed.",
    hint: "Hooks run in the order in which you add them, each on what the one before returned." },
  { title: "Everywhere", graph: "worked", kinds: ["full", "global"], start: ["scale", 2],
    solution: ["global:everywhere:scale:2"],
    task: "One hook that doubles. x.grad is sixteen times what it was.",
    hint: "Two, four, eight, sixteen: the hook must be called once for each of four modules." },
  { title: "One entry short", graph: "sum", kinds: ["full", "pre", "legacy"], start: ["scale", 2],
    solution: ["legacy:net:scale:2"], prints: true,
    task: "The module has three inputs. The hook printed a grad_input with two entries.",
    hint: "A legacy hook sits on the module's last operation. How many inputs has the last addition?" },
  { title: "The last operation", graph: "worked", kinds: ["full", "pre", "legacy"],
    start: ["scale", 2], solution: ["legacy:f0:scale:2"], prints: true,
    task: "A Linear works by addmm, with three inputs. The hook on it printed one entry, and even so "
      + "its weight and its bias doubled.",
    hint: "x is a vector, so something comes after addmm. What is the last operation of f0?" },
];

const sceneOf = (graph, hooks) => decode([graph, "", ...hooks].join(";"));

// What a level lets you see of a run: the .grad of each leaf, and what hooks printed.
function observed(level, scene) {
  const { tensors, log } = run(scene);
  const grads = GRAPHS[level.graph].leaves.map(name => [name, show(tensors[name].grad)]);
  const calls = log.filter(({ type }) => type === "hook");
  const prints = calls.map(call => call.sees.map(([name, seen]) => `${name} ${showAll(seen)}`).join(" "));
  return { grads: Object.fromEntries(grads), prints: level.prints ? prints : [] };
}

// Compare a try with a level's solution: [] if it is right, else what differs and what that means.
function mistakes(level, scene) {
  const wanted = observed(level, sceneOf(level.graph, level.solution));
  const plain = observed(level, sceneOf(level.graph, [])), got = observed(level, scene);
  const found = [];
  for (const [name, goal] of Object.entries(wanted.grads)) {
    const [yours, before] = [got.grads[name], plain.grads[name]];
    if (yours === goal) { continue; }
    const told = `${name}.grad should be ${goal}, yours is ${yours}.`;
    const why = goal === before ? "It should not change: your hook reaches too far."
      : yours === before ? "It should change: your hook doesn't reach it."
        : "Your hook reaches it, but does something else to it.";
    found.push({ name, text: `${told} ${why}` });
  }
  const at = wanted.prints.findIndex((line, at) => line !== got.prints[at]);
  const extra = got.prints.length > wanted.prints.length;
  if (!scene.hooks.length) {
    return [{ text: "There is no hook yet. Choose a kind, then a place in the graph." }, ...found];
  }
  if (at >= 0 || extra) {
    const text = at < 0 ? `There is a call too many: ${got.prints[wanted.prints.length]}.`
      : `It should print ${wanted.prints[at]}. ${got.prints[at] ? `Yours prints ${got.prints[at]}.`
        : "Yours prints nothing there."}`;
    found.push({ text });
  }
  return found;
}
