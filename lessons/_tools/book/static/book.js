// What is wider than its place scrolls: let the Tab key reach it, so that the arrow keys move it.
function reachable() {
  for (const each of document.querySelectorAll(".bd-article :is(mjx-container, .math, p, pre, table, .cell_output)")) {
    const scrolls = getComputedStyle(each).overflowX === "auto" && each.scrollWidth > each.clientWidth;
    if (scrolls) { each.tabIndex = 0; } else { each.removeAttribute("tabindex"); }
  }
}
addEventListener("load", async () => {
  await window.MathJax?.startup.promise;
  reachable();
});
addEventListener("resize", reachable);
document.addEventListener("toggle", reachable, true);

// The site that computes may be published beside this one, under lite: then a lesson links there.
addEventListener("load", async () => {
  const lesson = location.pathname.match(/lessons\/(\d\d_\w+)\.html$/);
  if (!lesson || !location.protocol.startsWith("http")) { return; }
  const lab = new URL("../lite/lab/index.html", location.href);
  const there = await fetch(lab, { method: "HEAD" }).catch(() => null);
  if (!there?.ok) { return; }
  lab.search = `path=${lesson[1]}.ipynb`;
  for (const each of document.querySelectorAll('.admonition a[href$="#run-it"]')) { each.href = lab; }
  for (const each of document.querySelectorAll(".cell_input")) {
    const link = Object.assign(document.createElement("a"), { href: lab, className: "run-cell", textContent: "Run" });
    link.setAttribute("aria-label", "Run this lesson in the browser");
    each.append(link);
  }
});
