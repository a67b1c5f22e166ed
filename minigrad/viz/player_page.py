"""The style of the player, and the script that turns its stills into one that steps."""

from minigrad.viz.style import CARDS, PICTURES, on_dark_pages

# The text stands beside the picture, or where there is no room for it there (`wrap-reverse`) above
# it. It keeps its place: the texts of all steps lie in one cell of a grid, unseen, so that the
# longest reserves the room.
_LAYOUT = """
.minigrad-player{box-sizing:border-box;max-width:100%;padding:4px}
.minigrad-player:focus{outline:none}
.minigrad-player:focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);border-radius:3px}
.minigrad-player-title{margin:0 0 6px!important}
.minigrad-player-bar{display:flex;flex-wrap:wrap;gap:4px;align-items:center;margin:0 0 8px}
.minigrad-player-bar input{flex:1 1 110px;min-width:0;max-width:340px;margin:0 6px;
  accent-color:var(--jp-brand-color1,#1976d2)}
.minigrad-player-bar button{font:13px/22px var(--jp-ui-font-family,system-ui,sans-serif);
  color:var(--jp-ui-font-color1,currentColor);background:var(--jp-layout-color2,#8883);
  border:1px solid var(--jp-border-color1,#8889);border-radius:var(--jp-border-radius,3px);
  box-sizing:border-box;height:26px;min-width:26px;margin:0;padding:0 9px;cursor:pointer}
.minigrad-player-bar button:hover{background:var(--jp-layout-color3,#8885)}
.minigrad-player-bar button.minigrad-player-main{color:#fff;background:#1565c0;border-color:#1565c0}
.minigrad-player-bar button.minigrad-player-main:hover{background:#0d47a1}
.minigrad-player-bar :focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);
  outline-offset:2px}
.minigrad-player-view{display:flex;flex-wrap:wrap-reverse;align-items:flex-end;gap:8px 16px}
.minigrad-player-said{flex:1 1 220px;display:grid;align-content:start;line-height:1.4;
  max-height:clamp(200px,50vh,640px);overflow:auto;overflow-wrap:anywhere}
.minigrad-player-said>*{grid-area:1/1}
.minigrad-player-said strong{display:block;margin-bottom:2px}
.minigrad-player-room{visibility:hidden}
.minigrad-player-stage{flex:100 1 auto;min-width:0;overflow:auto;position:relative;
  max-height:clamp(200px,50vh,640px);box-sizing:border-box;
  scrollbar-gutter:stable;scrollbar-width:thin;
  border:1px solid var(--jp-border-color2,#8886);border-radius:3px}
.minigrad-player-stage>div{position:relative;max-width:100%;margin:0 auto}
.minigrad-player-stage img{display:block;width:100%;max-width:none!important;margin:0!important}
.minigrad-player-stage img+img{position:absolute;left:0;top:0;height:100%!important}"""
PLAYER_STYLE = "\n".join(
    (PICTURES, CARDS, _LAYOUT.strip(), on_dark_pages(".minigrad-player", "color-scheme:dark"))
)


# It looks for all players that are not ready yet, so it needs no identifiers, and running it twice
# does no harm. It reaches for nothing outside of its own part of the page.
SCRIPT = """
(function () {
  var calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  function ready(player) {
    if (player.dataset.ready) { return; }
    var store = player.querySelector("details.minigrad-player-layers");
    if (!store) { return; }
    player.dataset.ready = "yes";
    var images = store.querySelectorAll("img"), count = images.length - 1;
    var rows = player.querySelectorAll("tbody tr"), now = 0, timer = null;
    function make(tag, kind, text) {
      var made = document.createElement(tag);
      if (kind) { made.className = "minigrad-player-" + kind; }
      if (text) { made.textContent = text; }
      return made;
    }
    var view = make("div", "view"), stage = make("div", "stage"), sheet = make("div");
    var base = images[0].cloneNode(true), layer = images[1].cloneNode(true);
    var width = Number(base.getAttribute("width")), least = base.style.minWidth;
    base.style.cssText = layer.style.cssText = "";
    sheet.style.width = width + "px"; sheet.style.minWidth = least;
    stage.style.flexBasis = "calc(" + least + " + 20px)"; stage.style.maxWidth = width + 20 + "px";
    sheet.appendChild(base); sheet.appendChild(layer); stage.appendChild(sheet);
    stage.tabIndex = 0; stage.setAttribute("role", "group");
    stage.setAttribute("aria-label", "picture of the graph");
    function tell(step, into) {
      into.textContent = "";
      if (!step) {
        into.appendChild(make("strong", "", "Before the first of " + count + " steps"));
        return;
      }
      var cells = rows[step - 1].children, title = cells[1].textContent;
      into.appendChild(make("strong", "", "Step " + step + " of " + count + ". " + title));
      cells[2].innerHTML.split("<br>").forEach(function (line) {
        var told = make("div"); told.innerHTML = line; into.appendChild(told);
      });
    }
    var texts = make("div", "said"), said = make("div");
    said.setAttribute("aria-live", "polite"); said.setAttribute("aria-atomic", "true");
    for (var step = 1; step <= count; step += 1) {
      var room = make("div", "room");
      room.setAttribute("aria-hidden", "true"); tell(step, room); texts.appendChild(room);
    }
    texts.appendChild(said);
    view.appendChild(stage); view.appendChild(texts);
    var bar = make("div", "bar"), slider = make("input");
    slider.type = "range"; slider.min = 0; slider.max = count; slider.step = 1;
    slider.setAttribute("aria-label", "step");
    var aim = [0, 0], moved = 0;
    function look(smooth) {
      var scale = sheet.clientWidth / width, sizes = [stage.clientWidth, stage.clientHeight];
      var place = images[now || 1].dataset.place.split(" ").map(function (each) {
        return Number(each) * scale;
      });
      if (!sizes[1]) { return; }
      place[0] += sheet.offsetLeft; place[4] += sheet.offsetLeft;
      if (Date.now() - moved > 900) { aim = [stage.scrollLeft, stage.scrollTop]; }
      var limits = [stage.scrollWidth - sizes[0], stage.scrollHeight - sizes[1]];
      var next = aim.map(function (at, axis) {
        var room = sizes[axis], part = place[axis + 2] > room ? 4 : 0;
        var start = place[part + axis], size = place[part + axis + 2];
        var edge = Math.max(0, Math.min(28, (room - size) / 2));
        if (start - edge < at || start + size + edge > at + room) {
          at = size > room ? start : start + size / 2 - room / 2;
        }
        return Math.max(0, Math.min(limits[axis], at));
      });
      if (smooth && next[0] === aim[0] && next[1] === aim[1]) { return; }
      aim = next; moved = Date.now();
      var way = smooth && !calm.matches ? "smooth" : "auto";
      stage.scrollTo({ left: next[0], top: next[1], behavior: way });
    }
    function show(step) {
      now = Math.max(0, Math.min(count, step));
      slider.value = now;
      layer.style.visibility = now ? "visible" : "hidden";
      if (now) { layer.src = images[now].src; layer.alt = images[now].alt; }
      tell(now, said);
      slider.setAttribute("aria-valuetext", said.firstChild.textContent);
      look(true);
    }
    function stop() {
      if (timer) { clearInterval(timer); timer = null; buttons.Play.textContent = "Play"; }
    }
    var buttons = {};
    [["First", function () { show(0); }], ["Back", function () { show(now - 1); }],
     ["Next", function () { show(now + 1); }], ["Last", function () { show(count); }],
     ["Play", null]].forEach(function (pair) {
      var kind = pair[0] === "Next" ? "main" : "";
      var button = buttons[pair[0]] = make("button", kind, pair[0]);
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
    var still = player.querySelector(".minigrad-player-end");
    still.parentNode.replaceChild(view, still);
    player.insertBefore(bar, view);
    store.style.display = "none";
    player.querySelector(".minigrad-player-still-only").remove();
    show(0);
    look(false);
    if (window.ResizeObserver) {
      new ResizeObserver(function () { look(false); }).observe(stage);
    }
  }
  document.querySelectorAll(".minigrad-player").forEach(ready);
})();
"""
