"use strict";
// A scene as a program for minigrad or PyTorch, and the lines that the program prints.

const py = value => Number.isInteger(value) ? value.toFixed(1) : String(value);

const SHOW = `def show(*grads):  # four decimals, in as many brackets as the tensor has dimensions
    def one(g):
        value = round(float(f"{g.item():.12g}"), 9) + 0  # the last bits depend on the machine
        return "[" * g.dim() + f"{value:.4f}" + "]" * g.dim()
    return "(" + ", ".join("None" if g is None else one(g) for g in grads) + ")"`;

// What a hook does to one gradient `g`, in Python. Where a hook of the scene cuts, `g` may be None.
function changed({ action, amount = 0 }, g, cuts) {
  const by = py(amount), text = { scale: `${by} * ${g}`, clip: `${g}.clamp(-${by}, ${by})`, flip: `-${g}`,
    zero: `torch.zeros_like(${g})`, cut: "None" }[action];
  return cuts && action !== "cut" ? `None if ${g} is None else ${text}` : text;
}
// The function of one hook: what it gets, what it prints, what it returns.
function hookCode(hook, number, cuts) {
  const { kind, place, action } = hook, head = `${number} ${KINDS[kind].name} on`;
  const gets = { tensor: ["grad"], post: ["leaf"], pre: ["module", "grad_output"] }[kind]
    || ["module", "grad_input", "grad_output"];
  const seen = gets.filter(name => name !== "module"), [first] = seen;
  const prints = { tensor: [["grad", "grad"]], post: [[".grad", "leaf.grad"]] }[kind]
    || seen.map(name => [name, "*" + name]);
  const effect = { tensor: `return ${changed(hook, "grad", cuts)}`,
    post: `leaf.grad = ${changed(hook, "leaf.grad", cuts)}` }[kind]
    || `return tuple(${changed(hook, "g", cuts)} for g in ${first})`;
  return [`def hook_${number}(${gets.join(", ")}):`,
    kind === "global" ? `    print("${head}", names[module])` : `    print("${head} ${place}")`,
    ...prints.map(([name, value]) => `    print("    ${name}", show(${value}))`),
    ...(action === "watch" ? [] : ["    " + effect])];
}

// How the program reaches a place, and how it registers a hook there.
function reach(graph, place) {
  const { inner, forward } = GRAPHS[graph], outside = ["net", ...forward.match(/\w+/g)];
  return inner[place] || (outside.includes(place) ? place : `net.${place}`);
}
function register({ kind, place }, number, graph) {
  const method = { tensor: "register_hook", post: "register_post_accumulate_grad_hook",
    full: "register_full_backward_hook", pre: "register_full_backward_pre_hook",
    legacy: "register_backward_hook" }[kind];
  return kind === "global"
    ? `handle_${number} = nn.modules.module.register_module_full_backward_hook(hook_${number})`
    : `${reach(graph, place)}.${method}(hook_${number})`;
}

function programOf(scene, library = "minigrad") {
  const { graph, values, hooks } = scene, plan = GRAPHS[graph];
  const legacy = hooks.some(hook => hook.kind === "legacy"), cuts = hooks.some(hook => hook.action === "cut");
  const globals = hooks.map((hook, at) => hook.kind === "global" ? `handle_${at + 1}` : "").filter(Boolean);
  const v = name => py(values[name]), inner = innerOf(graph), output = plan.forward.split(" ")[0];
  const early = [], late = []; // an inner tensor exists after the forward pass only
  hooks.forEach((hook, at) => (inner.includes(hook.place) ? late : early).push(
    "", "", ...hookCode(hook, at + 1, cuts), "", "", register(hook, at + 1, graph)));
  return [
    ...(legacy ? ["import warnings", ""] : []),
    library === "torch" ? "import torch" : "import minigrad as torch", "",
    "nn = torch.nn", "torch.set_default_dtype(torch.float64)  # so that every digit is right",
    ...(legacy ? ['warnings.simplefilter("ignore", FutureWarning)  # legacy hooks are deprecated'] : []),
    "", "", SHOW, "", "", ...plan.classes(v).flatMap(text => [text, "", ""]), ...plan.make(v),
    ...(globals.length ? ['names = {part: name or "net" for name, part in net.named_modules()}'] : []),
    ...early, ...(early.length ? [""] : []), plan.forward,
    `loss = (${output} - ${v("target")}) ** 2`, ...late, ...(late.length ? [""] : []),
    `inner = {${inner.map(name => `"${name}": ${plan.inner[name]}`).join(", ")}}`,
    "for tensor in inner.values():", "    tensor.retain_grad()", "loss.backward()",
    "for name, tensor in inner.items():", '    print(name, "grad", show(tensor.grad))',
    ...leavesOf(graph).map(name => `print("${name}.grad", show(${reach(graph, name)}.grad))`),
    ...globals.map(handle => `${handle}.remove()`),
    "torch.set_default_dtype(torch.float32)  # as it was", "",
  ].join("\n");
}

// All lines that the program prints.
function printout({ graph, hooks }, { tensors, log }) {
  const calls = log.filter(({ type }) => type === "hook").flatMap(({ number, module, sees }) => [
    `${number} ${KINDS[hooks[number - 1].kind].name} on ${module || hooks[number - 1].place}`,
    ...sees.map(([name, grads]) => `    ${name} ${showAll(grads)}`)]);
  return [...calls,
    ...innerOf(graph).map(name => `${name} grad ${showAll([tensors[name].arrived])}`),
    ...leavesOf(graph).map(name => `${name}.grad ${showAll([tensors[name].grad])}`)].join("\n");
}
