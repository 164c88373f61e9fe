import type { Check } from '../check/check.ts';

/** Something that a check stands on and that is down, so that its own alert says nothing new. */
export interface Cause {
  readonly kind: 'check' | 'host' | 'agent';
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Something that a check stands on: another check, or a machine whose agent is away. */
export type Ground = { readonly check: Check } | { readonly away: Cause };

export const isDown = ({ state, paused }: Pick<Check, 'state' | 'paused'>): boolean =>
  state === 'down' && !paused;

/**
 * Returns the cause at the root of what a check stands on. One that stands in a circle with it is
 * none: of things that wait for each other, somebody would be told of neither.
 */
export function causeOf(
  check: Check,
  groundsOf: (check: Check) => readonly Ground[],
  // Each is looked at once: where all stand on all, there are more ways than anybody can walk.
  seen: Set<number> = new Set(),
): Cause | undefined {
  seen.add(check.id);
  for (const ground of groundsOf(check)) {
    if ('away' in ground) {
      return ground.away;
    }
    if (!isDown(ground.check) || seen.has(ground.check.id)) {
      continue;
    }
    const root = causeOf(ground.check, groundsOf, seen);
    if (root !== undefined) {
      return root;
    }
    const { name, since } = ground.check;
    const isRoot = !groundsOf(ground.check).some(
      (below) => 'check' in below && isDown(below.check),
    );
    if (isRoot) {
      return { kind: 'check', name, since };
    }
  }
  return undefined;
}

/** Returns the names along a circle that a check would be part of, or undefined. */
export function circleOf(
  name: string,
  dependsOn: (name: string) => readonly string[],
): readonly string[] | undefined {
  const known = new Set<string>();
  const ways: (readonly string[])[] = [[name]];
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    for (const next of dependsOn(way.at(-1)!)) {
      if (next === name) {
        return [...way, name];
      }
      if (!known.has(next)) {
        known.add(next);
        ways.push([...way, next]);
      }
    }
  }
  return undefined;
}
