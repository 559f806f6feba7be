"""The style sheets of the pages. Colours are variables, so that light and dark share the rest."""

BASE = """
:root {
  color-scheme: light dark;
  --back: #ffffff; --card: #f6f7f9; --ink: #1b1f24; --dim: #5b6570; --rule: #d5dae0;
  --pass: #1a7f37; --fail: #c3202f; --doubt: #8a5a00; --accent: #0b63c5;
  --mark: #ffe2a8; --zero: #e9ecef; --unknown: #b9a7d6; --shade: rgba(0, 0, 0, .25);
  --p: 20, 95, 190; --n: 200, 60, 20;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171a; --card: #1d2125; --ink: #e4e8ec; --dim: #99a4b0; --rule: #363d45;
    --pass: #58c271; --fail: #ff7b72; --doubt: #e3b341; --accent: #6cb0ff;
    --mark: #5c4a10; --zero: #2a3036; --unknown: #6f5b96; --shade: rgba(0, 0, 0, .8);
    --p: 100, 170, 255; --n: 255, 140, 90;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.25rem; max-width: 76rem; background: var(--back);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font: 600 1rem/1.4 ui-monospace, monospace; margin: 1.75rem 0 .5rem; }
h4 { font-size: 1rem; margin: 0 0 .25rem; }
h5 { font-size: .9rem; margin: .75rem 0 .25rem; }
p { margin: .4rem 0; }
code, pre, .name, .place, table, .numbers dd {
  font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .86rem;
}
pre { margin: .5rem 0; white-space: pre-wrap; }
.pass, .passed { color: var(--pass); }
.fail, .error, .failed { color: var(--fail); }
.unverified, .warning, .nothing, .interrupted { color: var(--doubt); }
.known, .skipped, .note, .dim { color: var(--dim); }
.row, .finding { color: var(--ink); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .9rem; margin: .5rem 0; }
dt { color: var(--dim); }
dd { margin: 0; white-space: pre-wrap; }
.facts { font-size: .9rem; }
a { color: var(--accent); }
summary { cursor: pointer; }
details > summary { color: var(--accent); }
figure { margin: 0; max-width: 100%; }
figcaption { color: var(--dim); font-size: .86rem; margin-bottom: .25rem; }
figcaption b { color: var(--ink); }
svg { display: block; max-width: 100%; height: auto; }
.legend {
  list-style: none; display: flex; flex-wrap: wrap; gap: 0 1rem; margin: .25rem 0 0; padding: 0;
  font-size: .8rem; color: var(--dim); max-width: 37rem;
}
.plot .legend { max-width: 24rem; }
.legend svg { display: inline-block; vertical-align: -.1rem; margin-right: .35rem; }
/* Shadows at the edges show that more of a wide table lies beyond them. */
.scroll {
  --on: var(--back);
  overflow-x: auto; scrollbar-width: thin; scrollbar-color: var(--dim) transparent;
  background:
    linear-gradient(to right, var(--on) 40%, transparent) left / 2.5rem 100% local,
    linear-gradient(to left, var(--on) 40%, transparent) right / 2.5rem 100% local,
    linear-gradient(to right, var(--shade), transparent) left / .9rem 100%,
    linear-gradient(to left, var(--shade), transparent) right / .9rem 100%;
  background-repeat: no-repeat;
}
.card .scroll, .finding .scroll { --on: var(--card); }
table { border-collapse: collapse; margin: .4rem 0; overflow-wrap: normal; }
td, th { padding: .1rem .6rem; text-align: left; vertical-align: top; font-weight: 400; }
footer { color: var(--dim); font-size: .86rem; margin-top: 2rem; }
@media (max-width: 40rem) { body { padding: .75rem; } }
"""

"""Of every page."""

STYLE = (
    BASE
    + """
nav { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin-top: 1rem; }
nav input { position: absolute; opacity: 0; }
nav label {
  border: 1px solid var(--rule); border-radius: 1rem; padding: .1rem .75rem; cursor: pointer;
}
nav input:checked + label { background: var(--ink); color: var(--back); }
nav input:focus-visible + label { outline: 2px solid var(--accent); outline-offset: 2px; }
body:has(#show-pass:checked) .row:not(.pass),
body:has(#show-fail:checked) .row:not(.fail),
body:has(#show-unverified:checked) .row:not(.unverified),
body:has(#show-error:checked) .row:not(.error),
body:has(#show-known:checked) .row:not(.known),
body:has(#show-skipped:checked) .row:not(.skipped) { display: none; }
body:has(#show-pass:checked) .module:not(:has(> .pass)),
body:has(#show-fail:checked) .module:not(:has(> .fail)),
body:has(#show-unverified:checked) .module:not(:has(> .unverified)),
body:has(#show-error:checked) .module:not(:has(> .error)),
body:has(#show-known:checked) .module:not(:has(> .known)),
body:has(#show-skipped:checked) .module:not(:has(> .skipped)) { display: none; }
.row { border: 1px solid var(--rule); border-radius: .5rem; margin: .5rem 0; padding: 0 .9rem; }
.row[open] { padding-bottom: .75rem; }
.row > summary {
  color: var(--ink); padding: .5rem 0; display: flex; flex-wrap: wrap; gap: .1rem .9rem;
  align-items: baseline;
}
.row > summary::-webkit-details-marker { display: none; }
.verdict { font-weight: 700; min-width: 5.5rem; }
.verdict.fail, .verdict.error, .verdict.unverified { text-transform: uppercase; }
.name { font-weight: 600; }
.found { flex: 1 1 auto; }
.cost { color: var(--dim); font-size: .86rem; }
.finding {
  background: var(--card); border-left: 4px solid var(--rule); border-radius: .4rem;
  margin: .75rem 0; padding: .75rem 1rem;
}
.finding.error { border-left-color: var(--fail); }
.finding.warning { border-left-color: var(--doubt); }
.place { color: var(--dim); font-weight: 400; }
.source {
  background: var(--back); border: 1px solid var(--rule); border-radius: .4rem;
  padding: .4rem .25rem; overflow-x: auto; white-space: pre; overflow-wrap: normal;
}
.source .number { color: var(--dim); user-select: none; }
.source .line { color: var(--dim); }
mark { background: var(--mark); color: inherit; border-radius: .2rem; font-weight: 700; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 1.5rem; margin: .75rem 0; }
.maps { display: flex; flex-wrap: wrap; gap: 1rem 1.5rem; }
.axes { color: var(--dim); font-size: .86rem; }
.plot svg { width: 23.75rem; }
.heatmap svg { shape-rendering: geometricPrecision; }
.z { fill: var(--zero); }
.u { fill: var(--unknown); }
.p1 { fill: rgba(var(--p), .18); } .n1 { fill: rgba(var(--n), .18); }
.p2 { fill: rgba(var(--p), .34); } .n2 { fill: rgba(var(--n), .34); }
.p3 { fill: rgba(var(--p), .50); } .n3 { fill: rgba(var(--n), .50); }
.p4 { fill: rgba(var(--p), .66); } .n4 { fill: rgba(var(--n), .66); }
.p5 { fill: rgba(var(--p), .82); } .n5 { fill: rgba(var(--n), .82); }
.p6 { fill: rgb(var(--p)); } .n6 { fill: rgb(var(--n)); }
.heatmap path:not(.wrong) { stroke: var(--card); stroke-width: .06; }
path.wrong { fill: var(--ink); }
rect.worst { fill: none; stroke: var(--ink); stroke-width: .14; }
.plot text { fill: var(--dim); font: 11px system-ui, sans-serif; }
.grid { stroke: var(--rule); stroke-width: 1; }
.line.away, .line.noise, .line.analytic, .line.tolerance { fill: none; stroke-width: 1.75; }
.line.away { stroke: rgb(var(--p)); }
circle { fill: rgb(var(--p)); }
.line.noise { stroke: var(--dim); stroke-dasharray: 4 3; }
.line.analytic { stroke: var(--fail); }
.line.tolerance { stroke: var(--pass); stroke-dasharray: 2 3; }
.swatch {
  display: inline-block; width: 1.25rem; vertical-align: middle; margin-right: .35rem;
  border-top: 2px solid;
}
.swatch.away { border-color: rgb(var(--p)); }
.swatch.noise { border-color: var(--dim); border-top-style: dashed; }
.swatch.analytic { border-color: var(--fail); }
.swatch.tolerance { border-color: var(--pass); border-top-style: dotted; }
.values td, .values th { text-align: right; border: 1px solid var(--rule); white-space: nowrap; }
.values th { color: var(--dim); }
td.wrong b { color: var(--fail); }
td.worst { outline: 2px solid var(--fail); outline-offset: -2px; }
@media (max-width: 40rem) {
  .row { padding: 0 .6rem; }
  .finding { padding: .6rem; margin-left: -.2rem; margin-right: -.2rem; }
  .verdict { min-width: 0; }
  .found, .cost { flex-basis: 100%; }
}
@media print { nav { display: none; } }
"""
)
"""Of the report of a check."""
