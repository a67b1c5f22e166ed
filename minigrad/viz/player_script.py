"""The script that turns the stills of a player into one that steps forward and back."""

# It looks for all players that are not ready yet, so it needs no identifiers, and running it twice
# does no harm. It reaches for nothing outside of its own part of the page.
SCRIPT = """
(function () {
  function ready(player) {
    if (player.dataset.ready) { return; }
    var store = player.querySelector("details.minigrad-player-layers");
    if (!store) { return; }
    player.dataset.ready = "yes";
    var images = store.querySelectorAll("img"), count = images.length - 1;
    var rows = player.querySelectorAll("tbody tr"), now = 0, timer = null;
    function make(tag, text, style) {
      var made = document.createElement(tag);
      if (text) { made.textContent = text; }
      if (style) { made.style.cssText = style; }
      return made;
    }
    var stage = make("div", "", "position:relative;display:inline-block;max-width:100%");
    var base = images[0].cloneNode(true), layer = images[1].cloneNode(true);
    layer.style.cssText = "position:absolute;left:0;top:0;width:100%;height:100%";
    base.style.display = "block";
    stage.appendChild(base); stage.appendChild(layer);
    var said = make("div", "", "min-height:5em;margin:.4em 0");
    said.setAttribute("aria-live", "polite");
    var bar = make("div", "", "display:flex;gap:.5em;align-items:center;max-width:40em");
    var slider = make("input", "", "flex:1");
    slider.type = "range"; slider.min = 0; slider.max = count; slider.step = 1;
    slider.setAttribute("aria-label", "step");
    function show(step) {
      now = Math.max(0, Math.min(count, step));
      slider.value = now;
      layer.style.visibility = now ? "visible" : "hidden";
      said.textContent = "";
      if (!now) {
        said.appendChild(make("strong", "Before the first of " + count + " steps"));
      } else {
        layer.src = images[now].src; layer.alt = images[now].alt;
        var cells = rows[now - 1].children, title = cells[1].textContent;
        said.appendChild(make("strong", "Step " + now + " of " + count + ". " + title));
        cells[2].innerHTML.split("<br>").forEach(function (line) {
          var told = make("div"); told.innerHTML = line; said.appendChild(told);
        });
      }
    }
    function stop() {
      if (timer) { clearInterval(timer); timer = null; buttons.Play.textContent = "Play"; }
    }
    var buttons = {};
    [["First", function () { show(0); }], ["Back", function () { show(now - 1); }],
     ["Next", function () { show(now + 1); }], ["Last", function () { show(count); }],
     ["Play", null]].forEach(function (pair) {
      var button = buttons[pair[0]] = make("button", pair[0]);
      button.type = "button";
      button.addEventListener("click", function () {
        if (pair[1]) { stop(); pair[1](); return; }
        if (timer) { stop(); return; }
        if (now === count) { show(0); }
        button.textContent = "Stop";
        timer = setInterval(function () {
          if (now === count || !document.contains(player)) { stop(); } else { show(now + 1); }
        }, 1400);
      });
      bar.appendChild(button);
    });
    bar.appendChild(slider);
    slider.addEventListener("input", function () { stop(); show(Number(slider.value)); });
    player.tabIndex = 0;
    player.setAttribute("role", "group");
    player.setAttribute("aria-label", "backward player: arrow keys step, Home and End jump");
    player.addEventListener("keydown", function (event) {
      var step = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: count }[event.key];
      if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) { return; }
      event.preventDefault(); event.stopPropagation(); stop(); show(step);
    });
    var still = player.querySelector("img.minigrad-player-still");
    still.parentNode.replaceChild(stage, still);
    player.insertBefore(bar, stage.parentNode);
    player.insertBefore(said, stage.parentNode);
    store.style.display = "none";
    player.querySelector(".minigrad-player-still-only").remove();
    show(0);
  }
  document.querySelectorAll(".minigrad-player").forEach(ready);
})();
"""
