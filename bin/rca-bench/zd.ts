import { simulate } from './simulator/simulate.ts';
import { symptomSeries, windowsOf } from '../../plugins/lib/rca/windows.ts';
import { deviationOf } from '../../plugins/lib/rca/deviation.ts';
const c = simulate(Number(process.argv[3]), { suite: process.argv[2] as any });
const s = c.snapshot;
const sy = symptomSeries(s);
const w = windowsOf(s, sy);
const r = (t: number) => ((t - s.symptom.fired_at) / 60000).toFixed(1);
console.log(
  c.truth,
  s.symptom,
  'onset',
  r(w.onset),
  'base',
  r(w.baseline.from),
  r(w.baseline.to),
  'look',
  r(w.look.from),
  r(w.look.to),
  'cmp',
  r(w.compare.from),
);
for (const x of s.series.filter((x) => c.truth.nodes.includes(x.node) || x.id === sy?.id)) {
  const d = deviationOf(x, w.baseline, w.look);
  console.log(
    x.id,
    d && { med: d.usual.median, mad: d.usual.mad, scale: d.scale, peak: d.peak, worst: d.worst, on: d.onset_at && r(d.onset_at) },
    x.values
      .slice(-14)
      .map((v) => v?.toPrecision(3))
      .join(' '),
  );
}
console.log(
  s.edges
    .filter((e) => c.truth.nodes.includes(e.to) || c.truth.nodes.includes(e.from))
    .map((e) => e.from + '>' + e.to)
    .join(' '),
  s.missing.map((m) => m.kind).join(),
  s.checks.filter((c) => !c.ok),
);
