"use strict";
// What is on the page: the picture with its places and hooks, the step player, and the panels.

const $ = id => document.getElementById(id);
const TOP = 30; // pixels above the graph, for the bar "every module"
const STORE = "minigrad-hook-bench";
const FIRST = "worked;;full:f1:scale:2"; // the question of the first visit is about it
const LEGACY = FIRST.replace("full", "legacy");
const state = { scene: decode(FIRST), kind: "full", step: null, level: null, revealed: false, library: "minigrad" };

// Progress; a page that may not store anything forgets it.
const memory = { solved: [] };
try { Object.assign(memory, JSON.parse(localStorage.getItem(STORE))); } catch { /* not here */ }
function remember(what) {
  Object.assign(memory, what);
  try { localStorage.setItem(STORE, JSON.stringify(memory)); } catch { /* not here */ }
}

const when = (test, text) => test ? text : "";
const level = () => PUZZLES[state.level];
const nameOf = number => KINDS[state.scene.hooks[number - 1].kind].letter + number;
const where = hook => hook.kind === "global" ? "every module" : hook.place;
const describe = hook => `${KINDS[hook.kind].name} on ${where(hook)}`;
const says = text => { $("said").textContent = text; };
const calls = () => state.result.log.filter(({ type }) => type === "hook");
const steps = () => state.result.log.length;
const made = () => state.step === null ? steps() : state.step; // steps that have been made
const hooksAre = told => encode({ ...state.scene, values: {} }) === told;
const address = () => "#" + (level() ? `puzzle=${state.level + 1}` : encode(state.scene));

// Write HTML into an element, and keep the focus where it was.
function render(id, html) {
  const key = $(id).contains(document.activeElement) && document.activeElement.dataset.key;
  $(id).innerHTML = html;
  if (key) { $(id).querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true }); }
}
const button = (text, act, more = "") =>
  `<button type="button" data-act="${act}" data-key="${act}" ${more}>${text}</button>`;
const options = (names, chosen, text) => names.map(name =>
  `<option value="${name}" ${when(name === chosen, "selected")}>${text(name)}</option>`).join("");

// Run the scene and show all that follows from it. `typing`: leave the inputs of the hooks alone.
function update(told, typing) {
  Object.assign(state, { result: run(state.scene), plain: run({ ...state.scene, hooks: [] }), step: null });
  Object.assign(state, level() ? { checked: null, revealed: false } : !hooksAre(FIRST) && { revealed: true });
  try { history.replaceState(null, "", address()); } catch { /* a notebook's frame has no address */ }
  if (!typing) { drawHooks(); }
  draw();
  says([told, summary()].filter(Boolean).join(" "));
}
const draw = () => { drawAsk(); drawPicture(); drawCalls(); };
// Which gradients the hooks change, in words.
function summary() {
  const { graph, hooks } = state.scene, changed = tensorsOf(graph).filter(differs);
  return level() ? (hooks.length ? "Check when you are ready." : "Add a hook to the graph, then check.")
    : !state.revealed ? "Gradients flow down, from the loss to the leaves. They are hidden until you predict."
      : !hooks.length ? "No hooks: these are the plain gradients." : changed.length ? `Changed: ${changed.join(", ")}.`
        : "The hooks change no gradient.";
}

// Show another scene or level: what depends on the graph and on the mode only.
function openScene(scene, number = null) {
  if (number !== null && !level()) { state.bench = state.scene; }
  Object.assign(state, { scene, level: number, hint: false, focus: null });
  const puzzle = level(), { graph } = scene, kinds = puzzle ? puzzle.kinds : Object.keys(KINDS);
  $("to-bench").setAttribute("aria-pressed", !puzzle);
  $("to-puzzles").setAttribute("aria-pressed", !!puzzle);
  for (const id of ["graph-label", "program", "numbers"]) { $(id).hidden = !!puzzle; }
  $("graph").innerHTML = options(Object.keys(GRAPHS), graph, each => GRAPHS[each].title);
  for (const [id, text] of [["graph-title", GRAPHS[graph].title], ["about", GRAPHS[graph].about],
    ["side-title", puzzle ? `Puzzle ${number + 1}: ${puzzle.title}` : "Hooks"],
    ["lead", puzzle ? "These gradients came out. Which hook sits where?"
      : "backward() calls your hooks. Which gradients do they change?"]]) { $(id).textContent = text; }
  $("kind-list").innerHTML = kinds.map(kind => `<label class="${kind}" data-kind="${kind}"><input type="radio"
    name="kind" value="${kind}"><span class="letter" aria-hidden="true">${
    KINDS[kind].letter}</span>${KINDS[kind].name}</label>`).join("");
  drawValues();
  update();
  choose(kinds.includes(state.kind) ? state.kind : kinds[0]);
}
// Choose the kind of hook that a click in the graph adds.
function choose(kind) {
  state.kind = kind;
  $("kind-list").querySelector(`[value=${kind}]`).checked = true;
  $("kind-about").textContent = KINDS[kind].about;
  drawPicture();
}
const openLevel = number => openScene(sceneOf(PUZZLES[number].graph, []), number);

// --- Changing the scene ---
function add(kind, place) {
  const why = refusal(kind, place, state.scene), { hooks } = state.scene;
  if (why) { says(why); return; }
  const hook = addHook(state.scene, kind, place, ...(level()?.start || ["scale", 2]));
  update(`Added ${nameOf(hooks.length)}, a ${describe(hook)}.`);
}
const remove = number => update(`Removed the ${describe(state.scene.hooks.splice(number - 1, 1)[0])}.`);
// Give a hook another place, kind or action.
function change(number, change) {
  const { hooks } = state.scene, hook = hooks[number - 1], wanted = { ...hook, ...change };
  const why = refusal(wanted.kind, wanted.place, { ...state.scene, hooks: hooks.filter(each => each !== hook) });
  if (!why) {
    Object.assign(hook, wanted, allows(wanted.kind, wanted.action) ? {} : { action: "watch" });
    setAmount(hook, change.action ? "" : hook.amount);
  }
  const does = `${ACTIONS[hook.action].name} ${hook.amount ?? ""}`.trim();
  update(why || `${nameOf(number)}, a ${describe(hook)}, ${does}.`);
}

// --- Gradients after so many steps: undefined if not there yet, null for None ---
function gradAt(name, { tensors, log }, count) {
  const tensor = tensors[name];
  if (!tensor.leaf) { return tensor.passed <= count ? tensor.arrived : undefined; }
  let grad = count === log.length ? tensor.grad : undefined;
  for (const entry of log.slice(0, count).filter(({ node }) => node === tensor.accumulate)) {
    if (entry.type === "accumulate") { ({ grad } = entry); }
    else if (entry.sees[0][0] === ".grad") { [grad] = entry.returned || entry.sees[0][1]; }
  }
  return grad;
}
const bare = grad => grad === undefined ? "·" : grad === null ? "None"
  : number(grad.value).length < 10 ? number(grad.value) : grad.value.toPrecision(6);
const final = (name, result) => bare(gradAt(name, result, result.log.length));
const differs = name => final(name, state.result) !== final(name, state.plain);

// --- The picture ---
// Identity nodes sit where the gradient enters or leaves the module's box: which box, and which end.
function identityAt(spot) {
  const [key, end] = spot.split(/\.(?=in$|out$)/), box = GRAPHS[state.scene.graph].boxes.find(each => each[1] === key);
  return end && { module: box[0], end, at: [50, box[end === "in" ? 5 : 3]] };
}
const css = ([x, y], aside = 0, below = 0) => `left:calc(${x}% + ${aside}px);top:${y + TOP + below}px`;

function drawPicture() {
  const { scene, result, kind } = state, plan = GRAPHS[scene.graph], pins = pinsBySpot();
  const entry = state.step ? result.log[state.step - 1] : null;
  const now = spot => when(entry && entry.node.spot === spot && entry.node.name !== "AccumulateGrad", "now");
  const free = place => when(!refusal(kind, place, scene), "open");
  const ends = new Set(result.log.map(({ node }) => node.spot).filter(identityAt));
  const modules = plan.boxes.map(([module, spot, x1, y1, x2, y2]) => `<div class="module ${free(module)}"
    data-place="${module}" style="left:${x1}%;top:${y1 + TOP}px;width:${x2 - x1}%;height:${y2 - y1}px">
    <button type="button" class="name ${free(module)}" data-place="${module}" data-key="${spot}.box"
    aria-label="module ${module}, ${plan.modules[module]}${hooksOn(module)}">${module} ${
    plan.modules[module]}</button></div>`);
  const nodes = Object.entries(plan.at).filter(([, [, , text]]) => text).map(([spot, [x, y, text]]) =>
    `<div class="node ${now(spot)}" style="${css([x, y])}">${text}</div>` + drawPins(pins, spot, css([x, y], 27)));
  const identities = [...ends].map(spot => [spot, identityAt(spot).at]).map(([spot, at]) =>
    `<div class="identity ${now(spot)}" style="${css(at)}"></div>` + drawPins(pins, spot, css(at, 62)));
  const tensors = tensorsOf(scene.graph).map((name) => {
    const tensor = result.tensors[name], here = entry && entry.node.outputs.includes(tensor);
    const hit = here && (tensor.leaf || (entry.sees && entry.sees[0][0] === "grad"));
    return drawTensor(plan, name, `${free(name)} ${when(hit, "now")}`)
      + drawPins(pins, name, tensor.leaf ? css(plan.at[name], -14, 35) : css(plan.at[name], 50));
  });
  $("picture").style.height = Math.max(...Object.values(plan.at).map(([, y]) => y)) + TOP + 52 + "px";
  const everywhere = when(!level() || level().kinds.includes("global"), `<button type="button" class="everywhere ${
    free("everywhere")}" data-place="everywhere" data-key="everywhere">every module</button>`);
  render("picture", drawLines(plan) + [everywhere, ...modules, ...identities, ...nodes, ...tensors].join(""));
  const all = [...$("picture").querySelectorAll("button")]; // one of them is what Tab leads to
  const entrance = all.find(({ dataset }) => dataset.key === state.focus)
    || all.find(each => each.classList.contains("open")) || all[0];
  all.forEach(each => { each.tabIndex = each === entrance ? 0 : -1; });
  const [none, done] = [!made(), made() === steps()];
  for (const [id, off] of Object.entries({ first: none, back: none, next: done, last: done, step: false })) {
    $(id).disabled = !state.revealed || off;
  }
  Object.assign($("step"), { max: steps(), value: made() });
  $("step").setAttribute("aria-valuetext", `step ${made()} of ${steps()}`);
}

// One tensor: its name and value, its gradient, and what that would be without hooks.
function drawTensor(plan, name, more) {
  const { scene, result, plain, checked } = state, { leaf, value } = result.tensors[name];
  const puzzle = checked && !checked.length ? null : level(); // a solved one looks like the bench
  const before = final(name, plain), told = !leaf ? "grad" : puzzle ? "goal" : ".grad";
  const size = leaf ? round4(value) : number(value), wrong = checked && checked.some(found => found.name === name);
  const wanted = puzzle && leaf ? final(name, run(sceneOf(scene.graph, puzzle.solution))) : before;
  const shown = puzzle ? wanted : state.revealed ? bare(gradAt(name, result, made())) : "?";
  const marked = puzzle ? leaf && wanted !== before : !["?", "·", before].includes(shown);
  const note = wrong ? `yours ${final(name, result)}` : when(marked, `${puzzle ? "plain" : "was"} ${before}`);
  const verdict = when(leaf && puzzle && checked, wrong ? "✗ " : "✓ ");
  return `<button type="button" data-place="${name}" data-key="${name}" style="${css(plan.at[name])}" class="place ${
    when(leaf, "leaf")} ${when(marked, "differs")} ${when(wrong, "wrong")} ${more}" aria-label="${
    leaf ? "leaf" : "tensor"} ${name}, value ${size}, ${told} ${shown} ${note} ${
    when(verdict, wrong ? "wrong" : "right")}${hooksOn(name)}">
    <span><strong>${name}</strong> ${size}</span><span class="number">${verdict}${told} ${shown}</span>
    ${when(note, `<span class="was">${note}</span>`)}</button>`;
}

// The edges. Those that the gradient has passed are thick.
function drawLines(plan) {
  const { result } = state, known = spot => gradAt(spot, result, made());
  const ran = new Set(result.log.slice(0, made()).map(({ type, node }) => type === "rule" && node.spot));
  const drawn = plan.lines.map(line => line.split(" ")).flatMap(path => path.slice(1).map((end, n) => {
    const start = path[n], to = path.slice(n + 1).find(spot => !spot.startsWith("bend"));
    const passed = to in result.tensors ? known(to) : start in result.tensors ? known(start) : ran.has(start);
    const [[x1, y1], [x2, y2]] = [plan.at[start], plan.at[end]];
    return `<line x1="${x1}%" y1="${y1 + TOP}" x2="${x2}%" y2="${y2 + TOP}" class="${
      when(passed && state.revealed, "passed")}"/>`;
  }));
  return `<svg aria-hidden="true">${drawn.join("")}</svg>`;
}

// The numbers of the hooks by the place at which they are called: a legacy hook's is a node.
function pinsBySpot() {
  const spots = {};
  for (const { number: nr, node } of calls()) {
    const { kind, place } = state.scene.hooks[nr - 1], spot = ["tensor", "post"].includes(kind) ? place : node.spot;
    spots[spot] = [...new Set([...(spots[spot] || []), nr])].sort((a, b) => a - b);
  }
  return spots;
}
const drawPins = (pins, spot, style) => when(pins[spot], `<div class="pins" style="${style}">${
  (pins[spot] || []).map((nr) => {
    const { [nr - 1]: hook } = state.scene.hooks;
    return `<button type="button" class="pin ${hook.kind}" data-pin="${nr}" data-key="${nr}@${spot}"
      title="${describe(hook)}" aria-label="${nameOf(nr)}: ${describe(hook)}">${nameOf(nr)}</button>`;
  }).join("")}</div>`);
const hooksOn = place => state.scene.hooks.map((hook, n) =>
  when(hook.place === place, `, hook ${nameOf(n + 1)}`)).join("");

// --- The step player ---
function goTo(step) {
  state.step = Math.max(0, Math.min(steps(), step));
  draw();
  says(state.step ? `Step ${state.step} of ${steps()}. ${tell(state.result.log[state.step - 1])}`
    : `Before the first of ${steps()} steps: the gradient of the loss is 1.`);
}
function tell({ type, node, grads, sent, leaf, grad, number: nr, sees, returned, module }) {
  if (type === "hook") {
    const { kind, place } = state.scene.hooks[nr - 1], does = kind === "post" ? "sets .grad to" : "returns";
    const saw = sees.map(([name, seen]) => `${name} ${showAll(seen)}`).join(" and ");
    return `${nameOf(nr)}, a ${KINDS[kind].name} on ${module || place}, sees ${saw} and ${
      returned ? `${does} ${showAll(returned)}` : "changes nothing"}.`;
  }
  if (type === "accumulate") { return `AccumulateGrad: ${leaf.spot}.grad is now ${show(grad)}.`; }
  const identity = identityAt(node.spot);
  return !identity ? `${node.name} gets ${showAll(grads)} and sends ${showAll(sent)}.`
    : `The identity node that a full hook put at the ${identity.end}put of ${identity.module} passes ${
      showAll(identity.end === "in" ? sent : grads)} on.`;
}

// --- Panels ---
function drawValues() {
  $("values").innerHTML = Object.entries(state.scene.values).map(([name, value]) => `<div class="value">
    <span class="code-name">${name}</span>${[["range", 2, "slider of "], ["number", 10, ""]].map(([type, most, what]) =>
    `<input type="${type}" min="${-most}" max="${most}" step="0.01" value="${value}" data-value="${name}"
    aria-label="${what}${name}">`).join("")}</div>`).join("");
}

function drawHooks() {
  const { graph, hooks } = state.scene, offered = level() ? level().kinds : Object.keys(KINDS);
  render("hooks", hooks.map((hook, n) => {
    const name = nameOf(n + 1), kinds = offered.filter(kind => placesFor(kind, graph).includes(hook.place));
    const actions = Object.keys(ACTIONS).filter(action => allows(hook.kind, action));
    return `<li class="${hook.kind}" data-number="${n + 1}"><div class="tools"><span class="letter">${name}</span>
      <select data-change="kind" data-key="kind${n}" aria-label="${name}: kind">${
      options(kinds, hook.kind, kind => KINDS[kind].name)}</select><span>on <strong>${where(hook)}</strong></span></div>
      <div class="tools"><select data-change="action" data-key="action${n}" aria-label="${name}: what it does">${
      options(actions, hook.action, action => ACTIONS[action].name)}</select>${when(hook.amount !== undefined,
      `<input type="number" step="0.1" max="10" min="${hook.action === "clip" ? 0 : -10}" value="${hook.amount}"
      data-change="amount" data-key="amount${n}" aria-label="${name}: by how much">`)}
      ${button("Remove", "remove", `data-number="${n + 1}" aria-label="Remove ${name}"`)}</div>
      <div class="calls"></div></li>`;
  }).join(""));
}

// What the entries of grad_input are where a legacy hook really sits.
const ENTRIES = { AddmmBackward0: "the bias, the input and the transposed weight", AddBackward0: "the two addends",
  MulBackward0: "the two factors", PowBackward0: "what is squared", ViewBackward0: "what is reshaped",
  TanhBackward0: "the input of tanh", BackwardHookFunctionBackward: "what it passes on" };

// What each hook saw, in which order they were called, and the code.
function drawCalls() {
  const { scene, result, revealed } = state, now = state.step ? result.log[state.step - 1] : null;
  $("order").textContent = !scene.hooks.length ? "No hook is in the graph yet."
    : !revealed ? `Shown once you have ${level() ? "checked" : "predicted"}.`
      : `Called in this order: ${calls().map(({ number: nr, module }) =>
        `${nameOf(nr)} on ${module || scene.hooks[nr - 1].place}`).join(", ")}.`;
  document.querySelectorAll("#hooks .calls").forEach((room, n) => {
    const { kind } = scene.hooks[n], mine = calls().filter(call => revealed && call.number === n + 1);
    room.innerHTML = mine.map(({ module, node, sees, returned }, at) => {
      const does = kind === "post" ? "sets .grad to" : "returns", note = { global: `on ${module}`, legacy: `Sits on ${
        node.name}, the last operation that ${module} ran. grad_input belongs to ${ENTRIES[node.name]}.` }[kind];
      return `<div class="call ${when(mine[at] === now, "now")}">${when(note, `<div class="soft">${note}</div>`)}
        ${sees.map(([name, grads]) => `<div>${name} ${showAll(grads)}</div>`).join("")}
        ${when(returned, `<div>${does} ${showAll(returned || [])}</div>`)}</div>`;
    }).join("");
  });
  $("code").textContent = programOf(scene, state.library);
  $("output").textContent = revealed ? printout(scene, result) : "Predict first.";
}

// The question of the first visit, or a puzzle's task.
function drawAsk() {
  const answers = [["x, f0.weight, f0.bias", "right"], ["f1.f.weight, f1.f.bias", "wrong"], ["all five", "wrong"],
    ["just show me", "shown"]].map(([text, answer]) => button(text, "predict", `data-answer="${answer}"`));
  const verdict = { right: "Right.", wrong: "Not those.", shown: "" }[state.answer];
  const question = `<p><strong>Predict first.</strong> The full backward hook F1 sits on f1 and doubles grad_input.
    Which of the five leaves (thick frames) get a doubled gradient?</p><div class="tools">${answers.join("")}</div>`;
  const answer = `<p tabindex="-1"><strong>${verdict}</strong> x, f0.weight and f0.bias double. grad_input is the
    gradient of x1, the input of f1. The doubled gradient flows on to f0 and x; the parameters of f1 already have
    theirs. Step back with ◀ to see that. Then turn F1 into a <strong>legacy backward hook</strong>, under
    “What the hooks see”.</p>`;
  const legacy = `<p>Now all five double. A legacy hook sits on the last operation of f1, the square (Pow), so its
    grad_input is the gradient of s. f1.f comes after that, and its parameters double too.</p>`;
  const on = `<div class="tools">Then test yourself: ${button("Solve puzzles", "puzzles")}</div>`;
  const told = !state.answer ? "" : hooksAre(FIRST) ? answer + on : when(hooksAre(LEGACY), legacy + on);
  render("ask", level() ? puzzleText(level()) : state.revealed ? told : question);
}
function puzzleText(puzzle) {
  const { checked, hint } = state, right = checked && !checked.length, { solved } = memory;
  const { prints } = observed(puzzle, sceneOf(puzzle.graph, puzzle.solution)), next = state.level + 1;
  const levels = PUZZLES.map(({ title }, n) => `<button type="button" data-act="level" data-number="${n}"
    data-key="level${n}" aria-pressed="${n === state.level}" aria-label="Puzzle ${n + 1}, ${title}${
    when(solved.includes(n), ", solved")}">${n + 1}${when(solved.includes(n), "✓")}</button>`);
  return `<div class="levels">${levels.join("")}</div>
    <p>${puzzle.task}</p>${when(prints.length, `<pre>${prints.join("\n").replace(" grad_o", "\ngrad_o")}</pre>`)}
    <p class="soft">Each leaf (thick frame) has a goal: the .grad that came out. Other gradients are plain, without
    hooks.</p>
    <div class="tools">${button("Check", "check", 'class="main"')}${button("Hint", "hint")}${
    when(right && PUZZLES[next], button("Next puzzle", "level", `data-number="${next}"`))}</div>
    ${when(hint, `<p><strong>Hint:</strong> ${puzzle.hint}</p>`)}
    ${when(right, `<p><strong class="good">✓ Solved, ${solved.length} of ${PUZZLES.length}.</strong>
    ${puzzle.because}</p>`)}
    ${when(checked && !right, `<ul>${(checked || []).map(({ text }) => `<li>${text}</li>`).join("")}</ul>`)}`;
}

// --- What buttons and inputs do ---
const ACTS = {
  predict({ answer }) {
    Object.assign(state, { revealed: true, answer });
    remember({ predicted: true });
    update();
    $("ask").firstElementChild.focus();
  },
  check() {
    Object.assign(state, { checked: mistakes(level(), state.scene), revealed: true });
    const right = !state.checked.length;
    if (right) { remember({ solved: [...new Set([...memory.solved, state.level])] }); }
    draw();
    says(right ? `Solved. ${level().because}` : state.checked[0].text);
  },
  hint() { state.hint = true; drawAsk(); says(level().hint); },
  level({ number: n }) { openLevel(Number(n)); $("ask").querySelector(`[data-key=level${n}]`).focus(); },
  remove({ number: n }) { remove(Number(n)); $("clear").focus(); },
  clear() { state.scene.hooks.length = 0; update(); },
  reset() { Object.assign(state.scene.values, GRAPHS[state.scene.graph].values); drawValues(); update(); },
  bench() { if (level()) { state.revealed = !!memory.predicted; openScene(state.bench); } },
  puzzles() {
    if (!level()) { openLevel(Math.max(0, PUZZLES.findIndex((_, n) => !memory.solved.includes(n)))); }
    $("to-puzzles").focus();
  },
  copy() { copy($("code"), "The code is copied."); },
  link() { // a notebook's output has no address
    says(location.protocol === "about:" ? `hook_bench("${address().slice(1)}")`
      : location.href.split("#")[0] + address());
    copy($("said"), `Copied: ${$("said").textContent}`);
  },
  first() { goTo(0); }, back() { goTo(made() - 1); }, next() { goTo(made() + 1); }, last() { goTo(steps()); },
};
// Copy an element's text; where that is not allowed, select it.
async function copy(node, told) {
  try { await navigator.clipboard.writeText(node.textContent); says(told); } catch {
    if (node !== $("said")) { says("Copying is not allowed here. The text is selected: press Ctrl+C."); }
    getSelection().selectAllChildren(node);
  }
}
document.addEventListener("click", ({ target }) => {
  const { act, ...told } = (target.closest("[data-act]") || { dataset: {} }).dataset;
  if (act) { ACTS[act](told); }
  if (["first", "back", "next", "last"].includes(act) && $(act).disabled) { $("step").focus(); }
});
document.addEventListener("input", ({ target }) => {
  const { value: name, change: field } = target.dataset, given = target.value;
  const number = field && Number(target.closest("li").dataset.number);
  if (target.id === "step") { goTo(Number(given)); }
  if (target.id === "graph") { Object.assign(state, { revealed: true, answer: "" }); openScene(sceneOf(given, [])); }
  if (target.name === "kind") { choose(given); }
  if (target.name === "library") { state.library = given; drawCalls(); }
  if (name && given !== "" && Number.isFinite(Number(given))) {
    state.scene.values[name] = within(given, 10);
    const other = [...$("values").querySelectorAll(`[data-value="${name}"]`)].find(each => each !== target);
    other.value = state.scene.values[name];
    update();
  }
  if (field === "amount") { setAmount(state.scene.hooks[number - 1], given); update("", true); }
  else if (field) { change(number, { [field]: given }); }
});

// --- The picture by pointer and by keys ---
// Drag a kind from the list, or a hook that is in the graph, to a place that takes it.
document.addEventListener("pointerdown", (down) => {
  const source = down.target.closest("[data-kind],[data-pin]"), touched = down.pointerType === "touch";
  if (!source || down.button || (touched && !down.target.closest(".letter,.pin"))) { return; }
  const nr = Number(source.dataset.pin), kind = source.dataset.kind || state.scene.hooks[nr - 1].kind;
  const ghost = Object.assign(document.createElement("span"), { id: "ghost", className: `letter ${kind}`,
    textContent: KINDS[kind].letter });
  const target = ({ clientX, clientY }) => {
    const hit = document.elementsFromPoint(clientX, clientY).filter(each => $("picture").contains(each));
    const places = hit.map(each => each.closest("[data-place]")).filter(Boolean);
    return kind === "global" && hit.length ? $("picture").querySelector(".everywhere") : places.find(
      ({ dataset }) => placesFor(kind, state.scene.graph).includes(dataset.place)) || places[0];
  };
  const drag = new AbortController(), { signal } = drag; // takes the listeners away
  let dragged = false;
  const mark = place => document.querySelectorAll("[data-place]").forEach(each =>
    each.classList.toggle("over", each === place));
  const move = (event) => {
    if (!event.buttons) { end({ type: "pointercancel" }); return; } // let go outside of the frame
    if (!dragged && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 6) { return; }
    if (!dragged && !nr) { choose(kind); }
    dragged = true;
    document.body.append(ghost);
    Object.assign(ghost.style, { left: event.clientX + "px", top: event.clientY + "px" });
    mark(target(event));
  };
  const end = (event) => {
    drag.abort();
    ghost.remove();
    mark(null);
    if (!dragged) { return; }
    const stop = (click) => { click.stopPropagation(); click.preventDefault(); };
    addEventListener("click", stop, { capture: true, signal: AbortSignal.timeout(0) }); // it follows a drag
    const drop = event.type === "pointerup" && target(event);
    if (drop && nr) { change(nr, { place: drop.dataset.place }); } else if (drop) { add(kind, drop.dataset.place); }
  };
  addEventListener("pointermove", move, { signal });
  for (const type of ["pointerup", "pointercancel"]) { addEventListener(type, end, { signal }); }
});

$("picture").addEventListener("click", ({ target }) => {
  const { pin, place } = (target.closest("[data-pin],[data-place]") || { dataset: {} }).dataset;
  if (pin) { says(`${nameOf(pin)}: ${describe(state.scene.hooks[pin - 1])}. Drag it, or press Delete.`); }
  else if (place) { add(state.kind, place); }
});
$("picture").addEventListener("focusin", ({ target }) => {
  state.focus = target.dataset.key;
  for (const each of $("picture").querySelectorAll("button")) { each.tabIndex = each === target ? 0 : -1; }
});
$("picture").addEventListener("keydown", (event) => {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  const { pin, place } = event.target.dataset;
  if (way) { // to the nearest button on that side
    const middle = (each, box = each.getBoundingClientRect()) => [box.x + box.width / 2, box.y + box.height / 2];
    const from = middle(event.target);
    const [[far, nearest]] = [...$("picture").querySelectorAll("button")].map((each) => {
      const [x, y] = middle(each).map((value, axis) => value - from[axis]), along = x * way[0] + y * way[1];
      return [along > 3 ? along + 2 * Math.abs(x * way[1] + y * way[0]) : Infinity, each];
    }).sort((one, other) => one[0] - other[0]);
    if (far < Infinity) { nearest.focus(); }
  } else if (event.key === "Delete" || event.key === "Backspace") {
    const number = Number(pin) || state.scene.hooks.findLastIndex(hook => hook.place === place) + 1;
    if (number) { remove(number); $("picture").querySelector("[tabindex='0']").focus(); }
  } else { return; }
  event.preventDefault();
});

// --- Inside a notebook or a book: take their theme, and be as high as the page ---
function followParent() {
  const { body, documentElement: root } = parent.document;
  const follow = () => {
    const told = { true: "light", false: "dark" }[body.dataset.jpThemeLight] || root.dataset.theme
      || when(body.classList.contains("vscode-dark"), "dark");
    if (["light", "dark"].includes(told)) { document.documentElement.dataset.theme = told; }
  };
  for (const each of [body, root]) { new MutationObserver(follow).observe(each, { attributes: true }); }
  follow();
  const fit = () => { frameElement.style.height = document.body.offsetHeight + 2 + "px"; };
  new ResizeObserver(fit).observe(document.body);
}
try { if (parent !== window) { followParent(); } } catch { /* a parent that can't be seen */ }

function start(told) {
  const [, number] = told.match(/^#?puzzle=(\d+)$/) || [], scene = decode(told);
  state.revealed = Boolean(scene || memory.predicted);
  if (PUZZLES[number - 1]) { openLevel(number - 1); } else { openScene(scene || decode(FIRST)); }
}
addEventListener("hashchange", () => start(location.hash));
start(location.hash || document.documentElement.dataset.scene || "");
