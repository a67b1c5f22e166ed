"use strict";
// A scene as a program for minigrad or PyTorch, and the lines that the program prints.

const py = value => Number.isInteger(value) ? value.toFixed(1) : String(value);

const SHOW = `def show(*grads):  # four decimals, in as many brackets as the tensor has dimensions
    told = []
    for g in grads:
        if g is None:
            told.append("None")
        else:
            told.append("[" * g.dim() + f"{round(g.item(), 9) + 0:.4f}" + "]" * g.dim())
    return "(" + ", ".join(told) + ")"`;

// What a hook does to one gradient, as an expression of `g`.
function expression({ action, amount }, g) {
  return { scale: `${py(amount || 0)} * ${g}`, clip: `${g}.clamp(-${py(amount || 0)}, ${
    py(amount || 0)})`, flip: `-${g}`, zero: `torch.zeros_like(${g})`, cut: "None" }[action];
}
const title = (hook, number) => `${number} ${KINDS[hook.kind].name}`;

// The function of one hook. Where another hook cuts, gradients may be None.
function hookCode(hook, number, cuts) {
  const head = title(hook, number), call = `hook_${number}`, watches = hook.action === "watch";
  const changed = (g, unless) => unless && hook.action !== "cut"
    ? `None if ${g} is None else ${expression(hook, g)}` : expression(hook, g);
  const replaced = grads => watches ? [] : [`    return tuple(${changed("g", cuts)} for g in ${grads})`];
  if (hook.kind === "tensor") {
    return [`def ${call}(grad):`, `    print("${head} on ${hook.place}: grad", show(grad))`,
      ...(watches ? [] : [`    return ${changed("grad", cuts)}`])];
  }
  if (hook.kind === "post") {
    return [`def ${call}(leaf):`, `    print("${head} on ${hook.place}: .grad", show(leaf.grad))`,
      ...(watches ? [] : [`    leaf.grad = ${changed("leaf.grad", cuts)}`])];
  }
  const on = hook.kind === "global" ? '" + names[module] + ":' : `${hook.place}:`;
  if (hook.kind === "pre") {
    return [`def ${call}(module, grad_output):`,
      `    print("${head} on ${on} grad_output", show(*grad_output))`, ...replaced("grad_output")];
  }
  return [`def ${call}(module, grad_input, grad_output):`, `    print("${head} on ${on}`
    + ' grad_input", show(*grad_input), "grad_output", show(*grad_output))', ...replaced("grad_input")];
}

// How the program reaches a place.
function reach(graph, place) {
  const { python, modules } = GRAPHS[graph];
  if (place in python) { return python[place]; }
  const inputs = Object.hasOwn(modules, "net") && GRAPHS[graph].forward.match(/\((.*)\)/)[1].split(", ");
  return place === "net" || inputs.includes(place) ? place : `net.${place}`;
}
function register(hook, number, graph) {
  const on = reach(graph, hook.place), call = `hook_${number}`;
  return { tensor: `${on}.register_hook(${call})`,
    post: `${on}.register_post_accumulate_grad_hook(${call})`,
    full: `${on}.register_full_backward_hook(${call})`,
    pre: `${on}.register_full_backward_pre_hook(${call})`,
    legacy: `${on}.register_backward_hook(${call})`,
    global: `handle_${number} = nn.modules.module.register_module_full_backward_hook(${call})`,
  }[hook.kind];
}

function programOf(scene, library = "minigrad") {
  const { graph, values, hooks } = scene, plan = GRAPHS[graph];
  const legacy = hooks.some(hook => hook.kind === "legacy");
  const cuts = hooks.some(hook => hook.action === "cut");
  const globals = hooks.map((hook, at) => hook.kind === "global" ? `handle_${at + 1}` : "")
    .filter(Boolean);
  const v = name => py(values[name]);
  const inner = Object.keys(plan.python);
  const early = [], late = []; // an inner tensor exists after the forward pass only
  hooks.forEach((hook, at) => (inner.includes(hook.place) ? late : early).push(
    "", "", ...hookCode(hook, at + 1, cuts), "", "", register(hook, at + 1, graph)));
  const output = plan.forward.split(" ")[0];
  return [
    ...(legacy ? ["import warnings", ""] : []),
    library === "torch" ? "import torch" : "import minigrad as torch", "",
    "nn = torch.nn", "torch.set_default_dtype(torch.float64)  # so that every digit is right",
    ...(legacy ? ['warnings.simplefilter("ignore", FutureWarning)  # legacy hooks are deprecated']
      : []), "", "", SHOW, "", "",
    ...plan.classes(v).flatMap(text => [text, "", ""]), ...plan.make(v),
    ...(globals.length ? ['names = {part: name or "net" for name, part in net.named_modules()}']
      : []),
    ...early, ...(early.length ? [""] : []), plan.forward,
    `loss = (${output} - ${v("target")}) ** 2`, ...late, ...(late.length ? [""] : []),
    `inner = {${inner.map(name => `"${name}": ${plan.python[name]}`).join(", ")}}`,
    "for tensor in inner.values():", "    tensor.retain_grad()", "loss.backward()",
    "for name, tensor in inner.items():", '    print(name, "grad", show(tensor.grad))',
    ...plan.leaves.map(name => `print("${name}.grad", show(${reach(graph, name)}.grad))`),
    ...globals.map(handle => `${handle}.remove()`),
    "torch.set_default_dtype(torch.float32)  # as it was", "",
  ].join("\n");
}

// One call of a hook, as the program prints it.
const printed = (call, hook) => `${title(hook, call.number)} on ${call.module || hook.place}: `
  + call.sees.map(([name, grads]) => `${name} ${showAll(grads)}`).join(" ");

// All lines that the program prints.
function printout(scene, result = run(scene)) {
  const { graph, hooks } = scene, { tensors, log } = result;
  return [...log.filter(({ type }) => type === "hook").map(call => printed(call, hooks[call.number - 1])),
    ...Object.keys(GRAPHS[graph].python).map(name => `${name} grad ${showAll([tensors[name].arrived])}`),
    ...GRAPHS[graph].leaves.map(name => `${name}.grad ${showAll([tensors[name].grad])}`)].join("\n");
}

// A scene at random, for tests: two or three hooks out of every kind and action.
function randomScene(seed) {
  let state = seed * 2654435761 >>> 0;
  const random = (count) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0;
    return Math.floor(((state ^ (state >>> 13)) >>> 0) / 4294967296 * count);
  };
  const pick = list => list[random(list.length)];
  const graph = pick(Object.keys(GRAPHS));
  const scene = { graph, values: {}, hooks: [] };
  for (const name of Object.keys(GRAPHS[graph].values)) {
    scene.values[name] = round4((random(401) - 200) / 100);
  }
  for (let left = random(5); left > 0; left -= 1) {
    const kind = pick(Object.keys(KINDS)), place = pick(placesFor(kind, graph));
    const action = pick(Object.keys(ACTIONS).filter(each => allows(kind, each)));
    if (!refusal(kind, place, scene)) {
      addHook(scene, kind, place, action, action === "clip" ? random(100) / 100
        : (random(81) - 40) / 10);
    }
  }
  return scene;
}
