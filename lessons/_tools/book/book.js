// What is wider than its place scrolls: let the Tab key reach it, so that the arrow keys move it.
function reachable() {
  for (const each of document.querySelectorAll(".bd-article :is(mjx-container, .math, p, table)")) {
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
