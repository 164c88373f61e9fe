import { type Curve, offsetOf, type World } from './world.ts';

const stepMs = 60_000;

/** Returns the metrics of a world in the Prometheus text format, one sample a minute up to `now`. */
export function samplesOf({ metrics = [] }: World, now: number): string {
  return metrics
    .flatMap(([series, curve]) =>
      pointsOf(curve).map(([at, value]) => `${series} ${value} ${now + at}`),
    )
    .join('\n')
    .concat('\n');
}

function pointsOf(curve: Curve): readonly (readonly [at: number, value: number])[] {
  const corners = curve.split(', ').map((part) => {
    const [at = '', value = ''] = part.split(' ');
    return [offsetOf(at), Number(value)] as const;
  });
  const [first, last] = [corners[0]![0], corners.at(-1)![0]];
  const count = Math.floor((last - first) / stepMs) + 1;
  return Array.from({ length: count }, (_, index) => {
    const at = last - (count - 1 - index) * stepMs;
    const next = Math.max(
      1,
      corners.findIndex(([corner]) => corner >= at),
    );
    const [from, to] = [
      corners[Math.min(next, corners.length - 1) - 1] ?? corners[0]!,
      corners[Math.min(next, corners.length - 1)]!,
    ];
    const share = to[0] === from[0] ? 1 : (at - from[0]) / (to[0] - from[0]);
    return [at, from[1] + share * (to[1] - from[1])] as const;
  });
}
