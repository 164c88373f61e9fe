import { investigate } from 'svc/rca';
import { petshopCases } from './petshop.ts';
const dir = process.argv[2]!;
let n = 0,
  a1 = 0,
  a3 = 0,
  a5 = 0,
  t = 0;
for (const c of petshopCases(dir)) {
  const b = performance.now();
  const f = investigate(c.snapshot);
  t += performance.now() - b;
  n++;
  const r = f.hypotheses.findIndex((h) => c.truth.nodes.includes(h.node));
  if (r === 0) a1++;
  if (r >= 0 && r < 3) a3++;
  if (r >= 0 && r < 5) a5++;
  if (process.argv[3])
    console.log(
      c.id,
      c.truth.fault,
      c.truth.nodes[0],
      'rank',
      r,
      f.verdict,
      f.confidence.value.toFixed(2),
      f.hypotheses
        .slice(0, 3)
        .map(
          (h) =>
            `${h.node_name} ${h.score.toFixed(2)} d${h.deviation.toFixed(0)} c${h.correlation.toFixed(2)} ${h.deepest ? 'L' : ''}${h.reaches_symptom ? 'R' : ''}`,
        )
        .join(' | '),
    );
}
console.log(n, (a1 / n).toFixed(2), (a3 / n).toFixed(2), (a5 / n).toFixed(2), (t / n).toFixed(1) + 'ms');
