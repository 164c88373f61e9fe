import { investigate } from 'svc/rca';
import { simulate, type Suite } from './simulator/simulate.ts';
const [suite, from, count, verbose] = [process.argv[2] as Suite, Number(process.argv[3]), Number(process.argv[4]), process.argv[5]];
let n = 0,
  a1 = 0,
  a3 = 0,
  t = 0,
  g = 0,
  vok = 0;
const by: Record<string, number[]> = {};
const vs: Record<string, number> = {};
for (let s = from; s < from + count; s++) {
  const b0 = performance.now();
  const c = simulate(s, { suite, ...(process.env.DROP ? { dropEdges: Number(process.env.DROP) } : {}) });
  g += performance.now() - b0;
  if (c.truth.kind === 'withheld' && c.truth.nodes.includes(c.snapshot.symptom.node!)) continue;
  const b = performance.now();
  const f = investigate(c.snapshot);
  t += performance.now() - b;
  n++;
  const r = f.hypotheses.findIndex((h) => c.truth.nodes.includes(h.node));
  const e = (by[c.truth.fault] ??= [0, 0, 0, 0, 0]);
  e[0]!++;
  if (r === 0) {
    a1++;
    e[1]!++;
  }
  if (r >= 0 && r < 3) {
    a3++;
    e[2]!++;
  }
  const ok = (c.truth.verdicts as string[]).includes(f.verdict);
  if (ok) {
    vok++;
    e[3]!++;
  }
  if (r === 0 && c.truth.categories!.includes(f.hypotheses[0]!.category)) e[4]!++;
  vs[f.verdict] = (vs[f.verdict] ?? 0) + 1;
  if (verbose && (verbose === c.truth.fault || (verbose === 'bad' && r !== 0) || (verbose === 'v' && !ok)))
    console.log(
      s,
      c.truth.fault,
      c.truth.nodes.join(),
      'sym',
      c.snapshot.symptom.node,
      c.snapshot.symptom.metric,
      'rank',
      r,
      f.verdict,
      f.confidence.value.toFixed(2),
      'n',
      c.snapshot.nodes.length,
      '\n    ' +
        f.hypotheses
          .slice(0, 4)
          .map(
            (h) =>
              `${h.node_name}[${h.category}] ${h.score.toFixed(2)} d${h.deviation.toFixed(0)} c${h.correlation.toFixed(2)} ${h.deepest ? 'L' : ''}${h.reaches_symptom ? 'R' : ''} ${h.indicator?.name} ${h.support.map((x) => x.text).join('+')}`,
          )
          .join('\n    '),
    );
}
console.log(
  n,
  'AC1',
  (a1 / n).toFixed(3),
  'AC3',
  (a3 / n).toFixed(3),
  'verdict',
  (vok / n).toFixed(3),
  'gen',
  (g / n).toFixed(1),
  'rca',
  (t / n).toFixed(1) + 'ms',
  JSON.stringify(vs),
);
for (const [k, v] of Object.entries(by))
  console.log(
    k.padEnd(20),
    v[0],
    'ac1',
    (v[1]! / v[0]!).toFixed(2),
    'ac3',
    (v[2]! / v[0]!).toFixed(2),
    'verdict',
    (v[3]! / v[0]!).toFixed(2),
    'cat',
    (v[4]! / Math.max(1, v[1]!)).toFixed(2),
  );
