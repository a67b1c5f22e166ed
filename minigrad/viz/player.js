(function () {
  var calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  function ready(player) {
    if (player.dataset.ready) { return; }
    var store = player.querySelector("details.minigrad-player-start");
    if (!store) { return; }
    player.dataset.ready = "yes";
    var rows = player.querySelectorAll("tbody tr"), count = rows.length, now = 0, timer = null;
    function make(tag, kind, text) {
      var made = document.createElement(tag);
      if (kind) { made.className = "minigrad-player-" + kind; }
      if (text) { made.textContent = text; }
      return made;
    }
    var view = make("div", "view"), stage = make("div", "stage"), sheet = make("div");
    var base = store.querySelector("img").cloneNode(true), layer = base.cloneNode(true);
    layer.className = "minigrad-ink minigrad-player-layer";
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
      // as high as there is room, as long as text stays readable
      var high = parseFloat(getComputedStyle(stage).maxHeight) - 2, tall = base.getAttribute("height");
      sheet.style.width = Math.max(parseFloat(least), Math.min(width, width * high / tall)) + "px";
      var scale = sheet.clientWidth / width, sizes = [stage.clientWidth, stage.clientHeight];
      var place = rows[(now || 1) - 1].dataset.place.split(" ").map(function (each) {
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
      tell(now, said);
      layer.alt = said.innerText; layer.src = "data:image/svg+xml," + encodeURIComponent(over());
      slider.setAttribute("aria-valuetext", said.firstChild.textContent);
      look(true);
    }
    function over() {
      var marks = now ? rows[now - 1].dataset.now : "";
      for (var at = now - 2; at >= 0; at -= 1) { marks = rows[at].dataset.stays + marks; }
      return player.dataset.sheet.replace("</g>", function () { return marks + "</g>"; });
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
