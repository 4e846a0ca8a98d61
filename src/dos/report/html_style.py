"""How the report's page looks: two columns where there is room, one on a phone, light and dark.

The classes of outcomes (`landed`, `crashed`, …) are those of `html_chart.css_class`. Colours are
variables, so that the dark scheme only replaces their values; the bars of the chart keep theirs,
because their white letters need a dark ground in both.
"""

STYLE = """
:root { --ground: #f6f8fa; --paper: #fff; --ink: #1f2328; --dim: #59636e; --line: #d1d9e0;
  --track: #eaeef2;
  --good: #1a7f37; --warn: #9a6700; --bad: #cf222e; --note: #8250df; --work: #0969da;
  --grey: #59636e; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0d1117; --paper: #161b22; --ink: #e6edf3; --dim: #9198a1; --line: #30363d;
  --track: #21262d;
    --good: #3fb950; --warn: #d29922; --bad: #f85149; --note: #ab7df8; --work: #4493f8;
  --grey: #9198a1; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere;
  }
main { max-width: 1080px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 1.1rem; margin: 0 0 12px; }
h3 { font-size: 1rem; margin: 0; font-weight: 600; display: flex; flex-wrap: wrap; gap: 4px 10px;
  align-items: center; }
h4 { font-size: .72rem; margin: 0 0 4px; color: var(--dim); text-transform: uppercase;
  letter-spacing: .06em; }
header p, .none, .when { color: var(--dim); margin: 0; }
.when { font-weight: 400; font-size: .85rem; margin-left: auto; }
code, q, blockquote, h3, td, dd, svg text { unicode-bidi: isolate; }
code { font: .88em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  background: var(--track);
  padding: 1px 5px; border-radius: 4px; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 18px 20px;
  margin-top: 16px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(118px, 1fr)); gap: 10px;
  margin-top: 18px; }
.tile { background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 10px 14px;
  color: inherit; text-decoration: none; border-top: 3px solid var(--grey); }
a.tile:hover, a.tile:focus { border-color: var(--work); }
.tile b { display: block; font-size: 1.35rem; line-height: 1.25; white-space: nowrap; }
.tile span { color: var(--dim); font-size: .85rem; }
.tile.good { border-top-color: var(--good); } .tile.warn { border-top-color: var(--warn); }
.tile.bad { border-top-color: var(--bad); } .tile.note { border-top-color: var(--note); }
.tile.nothing { border-top-color: var(--line); } .tile.nothing b { color: var(--dim); }
.row { border-left: 3px solid var(--grey); padding: 2px 0 2px 14px; margin: 0 0 14px; }
.row:last-child { margin-bottom: 0; }
.row p { margin: 4px 0 0; }
.row.good { border-color: var(--good); } .row.warn { border-color: var(--warn); }
.row.bad { border-color: var(--bad); } .row.note { border-color: var(--note); }
.badge { font-size: .74rem; font-weight: 600; border: 1px solid currentColor; border-radius: 999px;
  padding: 0 9px;
  color: var(--good); }
.bad .badge { color: var(--bad); }
dl { display: grid; grid-template-columns: 96px 1fr; gap: 2px 12px; margin: 6px 0 0;
  font-size: .92rem; }
dt { color: var(--dim); } dd { margin: 0; }
.beside { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; margin-top: 8px; }
.beside p, blockquote { margin: 0; }
blockquote { white-space: pre-wrap; border-left: 2px solid var(--line); padding-left: 10px;
  font-style: italic;
  max-height: 16em; overflow: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; overflow-wrap: normal; }
th { text-align: left; color: var(--dim); font-weight: 500; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
details { margin-top: 12px; } summary { cursor: pointer; color: var(--dim); margin-bottom: 6px; }
.chart { display: block; overflow: hidden; font-size: 12px; }
.chart text { fill: var(--ink); } .chart .time { fill: var(--dim); font-size: 11px; }
  .chart .lane { font-weight: 600; }
.chart .in-bar { fill: #fff; font-size: 12px; }
.track { fill: var(--track); } .tick { stroke: var(--line); } .restart { stroke: var(--bad);
  stroke-dasharray: 4 3; }
.bar { stroke: var(--paper); stroke-width: 1; }
.bar.landed { fill: #1a7f37; } .bar.disbelieved, .bar.refused, .bar.cut-short { fill: #9a6700; }
.bar.crashed { fill: #cf222e; }
.bar.limited { fill: #8250df; } .bar.working { fill: #0969da; } .bar.undecided { fill: #59636e; }
rect.waiting { fill: var(--note); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 4px 0 0; font-size: .85rem;
  color: var(--dim); }
.legend i { display: inline-block; width: 18px; height: 16px; border-radius: 3px; color: #fff;
  font: 11px/16px system-ui; text-align: center; vertical-align: -3px; background: #59636e; }
.legend .landed { background: #1a7f37; }
.legend .disbelieved, .legend .refused, .legend .cut-short { background: #9a6700; }
.legend .crashed { background: #cf222e; } .legend .limited { background: #8250df; }
.legend .working { background: #0969da; } .legend .thin { height: 4px; vertical-align: 3px; }
.legend .waiting { background: var(--note); } .legend .restart { background: var(--bad); }
td.how { font-weight: 600; white-space: nowrap; } td.landed { color: var(--good); }
  td.crashed { color: var(--bad); }
td.disbelieved, td.refused, td.cut-short { color: var(--warn); }
td.limited { color: var(--note); } td.working { color: var(--work); }
@media (max-width: 640px) {
  main { padding: 16px 12px 40px; } section { padding: 14px 14px; }
  .beside { grid-template-columns: 1fr; gap: 8px; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 4px; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .when { margin-left: 0; width: 100%; } .tile:last-child { grid-column: span 2; }
}
@media print { body { background: none; } section { break-inside: avoid; } details { display: none;
  } }
"""
