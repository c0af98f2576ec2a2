#include "assets.hpp"

namespace cli::report {

const std::string_view style = R"css(
:root {
  color-scheme: light dark;
  --page: #f6f7f8; --panel: #ffffff; --text: #1b1f24; --muted: #59616b; --line: #d9dde2; --soft: #eef1f4;
  --accent: #1c5fb0; --accent-soft: #dbe8f8; --warm: #b3480a; --on-colour: #14171a;
  --c0: #8db8e2; --c1: #f0b678; --c2: #8ccdae; --c3: #d5a6d3; --c4: #ecd977; --c5: #e89c8f; --c6: #98d5e4; --c7: #c8b898;
  --c8: #b7c877; --c9: #c4cad1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #111417; --panel: #1a1e23; --text: #e7eaed; --muted: #a4adb7; --line: #343b44; --soft: #242a31;
    --accent: #78b4f5; --accent-soft: #1d3450; --warm: #f2a068; --on-colour: #f4f6f8;
    --c0: #2c5c8c; --c1: #83551b; --c2: #286a4c; --c3: #70437a; --c4: #695d12; --c5: #87392d; --c6: #226374; --c7: #5c513d;
    --c8: #525d1c; --c9: #48505a;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 3.5rem; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
a { color: var(--accent); text-underline-offset: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100vw; top: 0; padding: .5rem 1rem; background: var(--panel); z-index: 9; }
.skip:focus { left: 0; }
.wrap { max-width: 1280px; margin: 0 auto; padding: 0 1.25rem; }
header.top { padding: 2rem 0 1.1rem; }
header.top p { margin: .2rem 0 0; color: var(--muted); }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.25; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { margin: 0 0 .35rem; font-size: 1.2rem; }
h3 { margin: 1.4rem 0 .4rem; font-size: 1rem; }
h4 { margin: 1.1rem 0 .35rem; font-size: .93rem; }
nav.sections { position: sticky; top: 0; z-index: 5; background: var(--page); border-bottom: 1px solid var(--line); }
nav.sections ul { display: flex; flex-wrap: wrap; gap: .1rem 1.4rem; margin: 0; padding: .6rem 0; list-style: none; }
nav.sections a { text-decoration: none; font-weight: 550; }
nav.sections a:hover { text-decoration: underline; }
main section { margin: 1.25rem 0; padding: 1.25rem 1.4rem 1.4rem; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
section > p { max-width: 78ch; }
.note { color: var(--muted); font-size: .92rem; margin: .2rem 0 .8rem; max-width: 90ch; }
.none { color: var(--muted); font-style: italic; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: .9rem 0 .4rem; }
.facts div { padding: .7rem .9rem; background: var(--soft); border-radius: 8px; min-width: 0; }
.facts dt { color: var(--muted); font-size: .82rem; }
.facts dd { margin: .1rem 0 0; font-size: 1.25rem; font-weight: 620; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.facts small { display: block; font-weight: 400; font-size: .8rem; color: var(--muted); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .92rem; }
caption { text-align: left; color: var(--muted); padding: 0 0 .4rem; font-size: .88rem; }
th, td { padding: .32rem .7rem .32rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
thead th { color: var(--muted); font-size: .84rem; white-space: nowrap; vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; }
th.number { padding-left: .7rem; }
.name { overflow-wrap: anywhere; min-width: 11rem; }
td.value { overflow-wrap: anywhere; white-space: pre-wrap; }
tbody th { font-weight: 500; }
code, .code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .92em; }
.swatch { width: .85em; height: .85em; vertical-align: -.08em; margin-right: .45em; }
.swatch rect { stroke: var(--muted); stroke-opacity: .5; }
.share { width: 110px; height: 10px; vertical-align: middle; }
.share .track { fill: var(--soft); } .share .fill { fill: var(--accent); }
.c0 { fill: var(--c0); } .c1 { fill: var(--c1); } .c2 { fill: var(--c2); } .c3 { fill: var(--c3); } .c4 { fill: var(--c4); }
.c5 { fill: var(--c5); } .c6 { fill: var(--c6); } .c7 { fill: var(--c7); } .c8 { fill: var(--c8); } .c9 { fill: var(--c9); }
svg { max-width: 100%; }
svg text { font: 11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; fill: var(--text); }
#treemap { display: block; width: 100%; height: auto; border-radius: 6px; background: var(--soft); }
#treemap rect { stroke: var(--panel); stroke-width: 1; }
#treemap .frame { fill: var(--soft); stroke: var(--line); }
#treemap .leaf text { fill: var(--on-colour); }
#treemap .group > text { font-weight: 600; }
#treemap text { pointer-events: none; }
#treemap .off { display: none; }
#treemap .can { cursor: pointer; }
#treemap .can:hover > rect { stroke: var(--text); stroke-width: 1.5; }
#treemap g:focus { outline: none; }
#treemap g:focus-visible > rect { stroke: var(--accent); stroke-width: 4; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.2rem; margin: .7rem 0 0; padding: 0; list-style: none; font-size: .9rem; }
#crumbs { display: flex; flex-wrap: wrap; gap: .25rem; align-items: center; min-height: 2rem; margin-bottom: .3rem; font-size: .92rem; }
button { font: inherit; color: var(--accent); background: none; border: 1px solid transparent; border-radius: 6px; padding: .1rem .45rem; cursor: pointer; }
button:hover { background: var(--accent-soft); }
button[aria-current] { color: var(--text); font-weight: 600; cursor: default; background: none; }
thead button { color: inherit; font-weight: 600; padding: 0 .2rem; margin-left: -.2rem; }
th[aria-sort] button { color: var(--accent); }
th[aria-sort=ascending] button::after { content: " \2191"; }
th[aria-sort=descending] button::after { content: " \2193"; }
.tools { display: flex; flex-wrap: wrap; gap: .8rem; align-items: center; margin: .5rem 0 .8rem; }
.tools label { display: flex; flex: 0 1 26rem; align-items: center; gap: .5rem; }
.tools input { flex: 1; min-width: 0; font: inherit; color: inherit; background: var(--page); border: 1px solid var(--muted); border-radius: 6px; padding: .25rem .6rem; }
.tools button { border-color: var(--line); }
.spark { width: 84px; height: 18px; } .spark path { fill: var(--accent); fill-opacity: .75; }
.orders { display: grid; grid-template-columns: repeat(auto-fill, minmax(290px, 1fr)); gap: 1.2rem; margin-top: 1rem; }
.orders figure { margin: 0; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; min-width: 0; }
.orders svg { display: block; height: auto; margin: 0 auto .5rem; max-height: 460px; }
.orders .wide { grid-column: 1 / -1; }
figcaption { font-size: .9rem; overflow-wrap: anywhere; }
figcaption strong { display: block; font-size: .98rem; }
figcaption span { display: block; color: var(--muted); }
.cell { fill: var(--accent); } .cell.gone { fill: none; stroke: var(--line); }
.way { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.jump { fill: none; stroke: var(--muted); stroke-width: 1; stroke-dasharray: 3 3; }
.start { fill: var(--panel); stroke: var(--accent); stroke-width: 2.5; } .end { fill: var(--accent); }
.edge { stroke: var(--warm); stroke-width: 1.5; }
svg .tick { fill: var(--muted); font-size: 11px; } svg .up { font-size: 8px; } svg .page { font-size: 9px; font-weight: 700; }
.grid { stroke: var(--line); } .axis { stroke: var(--muted); }
.bar { fill: var(--accent); } .bar:hover { fill: var(--warm); }
.histogram { display: block; width: 100%; max-width: 780px; height: auto; }
.best { font-weight: 700; }
.tensor { margin: .6rem 0; border: 1px solid var(--line); border-radius: 8px; }
.tensor > summary { display: flex; flex-wrap: wrap; gap: .1rem .9rem; align-items: baseline; padding: .6rem .9rem; cursor: pointer; list-style: none; }
.tensor > summary::-webkit-details-marker { display: none; }
.tensor > summary::before { content: "\25B8"; color: var(--muted); }
.tensor[open] > summary::before { content: "\25BE"; }
.tensor > summary h3 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; min-width: 0; }
.tensor > summary span { color: var(--muted); font-size: .9rem; }
.tensor:target { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.inner { padding: 0 1rem 1rem; }
.inner .facts { grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); }
.inner .facts dd { font-size: 1.02rem; }
.numbers summary { color: var(--accent); cursor: pointer; font-size: .9rem; }
.bins { max-width: 30rem; }
.bins th, .bins td { text-align: right; }
.warning { color: var(--warm); font-weight: 600; }
footer { color: var(--muted); font-size: .88rem; padding: .5rem 0 3rem; }
@media print {
  :root { --page: #fff; --panel: #fff; --text: #000; --muted: #444; --line: #bbb; --soft: #f2f2f2; --accent: #1c5fb0; --on-colour: #000;
    --c0: #8db8e2; --c1: #f0b678; --c2: #8ccdae; --c3: #d5a6d3; --c4: #ecd977; --c5: #e89c8f; --c6: #98d5e4; --c7: #c8b898; --c8: #b7c877; --c9: #c4cad1; }
  body { font-size: 10pt; }
  nav.sections, .tools, .skip, #crumbs, .numbers { display: none; }
  main section { border: 0; padding: 0; margin: 1rem 0 2rem; }
  .wrap { max-width: none; padding: 0; }
  .tensor, figure, tr, #treemap { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
  a { color: inherit; text-decoration: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace cli::report
