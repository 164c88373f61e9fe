import { neededOf } from './rounds/verdict.ts';
import { circleOf } from './standing/cause.ts';
import { nodePrefix } from './standing/grounds.ts';
import { type Definition, definitionIn, fewestDomainSeconds } from './check/check.ts';
import type { checkStore } from './check/check-store.ts';
import { errors } from './check/errors.ts';

/** Returns what is wrong with the places of a check. */
export function placeFault({ kind, places, down_at: downAt }: Definition) {
  const wrong = places.findIndex((place) => !/^(?:svc|agent:.+|tag:[^=]+=.+|role:.+)$/.test(place));
  if (wrong !== -1) {
    return {
      field: `places/${wrong}`,
      message: 'must be svc, agent:NAME, tag:KEY=VALUE or role:ROLE',
    };
  }
  if (kind === 'command' && places.includes('svc')) {
    return {
      field: 'places',
      message:
        'must be agents, such as agent:NAME, for a command: it is in the policy.yaml of a machine, and svc has none',
    };
  }
  // A tag or a role may stand for any number of agents.
  const isCounted = places.every((place) => place === 'svc' || place.startsWith('agent:'));
  return isCounted && neededOf({ down_at: downAt }, places.length) > places.length
    ? { field: 'down_at', message: `is more than the number of places, ${places.length}` }
    : undefined;
}

/** Refuses what no check is called, and a circle: in one, every check would wait for the others. */
export async function assertStands(
  name: string,
  { depends_on: own }: Definition,
  store: Pick<ReturnType<typeof checkStore>, 'all'>,
): Promise<void> {
  if (own.length === 0) {
    return;
  }
  const checksOf = (names: readonly string[]): readonly string[] =>
    names.filter((one) => !one.startsWith(nodePrefix));
  const others = new Map(
    (await store.all()).map((row) => [row.name, checksOf(definitionIn(row.definition).depends_on)]),
  );
  const refuse = (path: string, message: string): never => {
    const fault = { field: 'depends_on', message };
    throw errors.not_valid(fault, { details: [{ path, message }] });
  };
  const unknown = own.findIndex((one) => checksOf([one]).length > 0 && !others.has(one));
  if (unknown !== -1 && own[unknown] !== name) {
    refuse(`/depends_on/${unknown}`, `names no check: ${own[unknown]}`);
  }
  const dependsOn = new Map(others).set(name, checksOf(own));
  const circle = circleOf(name, (one) => dependsOn.get(one) ?? []);
  if (circle !== undefined) {
    refuse('/depends_on', `makes a circle: ${circle.join(' → ')}`);
  }
}

/** Returns what is wrong with the interval of a check. */
export const paceFault = ({ kind, interval_s: interval }: Definition) =>
  kind === 'domain' && interval < fewestDomainSeconds
    ? {
        field: 'interval_s',
        message: `must be at least ${fewestDomainSeconds} for a domain: registries refuse those who ask more often`,
      }
    : undefined;
