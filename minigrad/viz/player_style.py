"""The style of the player: all of it on a laptop's screen, its buttons like JupyterLab's."""

from minigrad.viz.theme import CARDS, INK, on_dark_pages

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
STYLE = "\n".join(
    (INK, CARDS, _LAYOUT.strip(), on_dark_pages(".minigrad-player", "color-scheme:dark"))
)
