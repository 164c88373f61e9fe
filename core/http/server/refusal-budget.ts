import type { Clock } from '../../sdk/index.ts';

const windowMs = 60_000;
const mostSources = 10_000;
const rowsOfStrangers = 60;
const rowsOfKnown = 600;

/** Whether one more refusal of this source is written down; beyond it refusals are counted, so that nobody can fill the trail. */
export type RefusalBudget = (source: { readonly ip: string; readonly principal: string | undefined }) => boolean;

export function refusalBudget(clock: Clock): RefusalBudget {
  let counts = new Map<string, number>();
  let began = clock.monotonic();
  return ({ ip, principal }) => {
    if (clock.monotonic() - began >= windowMs) {
      counts = new Map();
      began = clock.monotonic();
    }
    const source = principal ?? networkOf(ip);
    const count = (counts.get(source) ?? 0) + 1;
    if (count === 1 && counts.size >= mostSources) {
      return false;
    }
    counts.set(source, count);
    return count <= (principal === undefined ? rowsOfStrangers : rowsOfKnown);
  };
}

/** Whoever has one IPv6 address has a whole network of them. */
const networkOf = (ip: string): string => (ip.includes(':') ? ip.split(':').slice(0, 4).join(':') : ip);
