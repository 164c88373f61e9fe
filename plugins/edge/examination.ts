import type { Diagnosis, Examination } from 'svc/contracts/doctor';

import type { Comings } from './presence/comings.ts';
import type { EdgeTable } from './record/edge-table.ts';
import type { EdgeRecord } from './record/record.ts';

const skewedMs = 10_000;
/** Min hosts with the same clock offset for the manager's own clock to be considered wrong. */
const fewestClocks = 3;
const maxNamed = 5;

/**
 * Examination of whether edges flap, share one identity, have an invalid policy, or clocks that
 * differ from the manager's.
 */
export const edgeExamination = (
  edgeTable: Pick<EdgeTable, 'all' | 'byId'>,
  comings: Comings,
): Examination => ({
  look() {
    const all = [...edgeTable.all()];
    const flapping = comings.flapping().flatMap((id) => edgeTable.byId(id) ?? []);
    const misruled = all.filter(
      ({ tunnel, policyProblem }) => tunnel !== undefined && policyProblem !== undefined,
    );
    const disputed = all.filter(({ conflict }) => conflict !== undefined);
    const wrong = [
      {
        them: flapping,
        detail: 'came back at least six times within the hour',
        fix: 'look at the log of the agent there (journalctl -u svc-edge), at its network and at proxies on the way that end quiet connections',
      },
      {
        them: disputed,
        detail: 'have keys that several machines use',
        fix: 'choose the right machine with "svc edge list" and POST /api/v1/edges/ID/resolve',
      },
      {
        them: misruled,
        detail: 'have an invalid policy.yaml, so they collect less than they should',
        fix: 'correct the line that "svc edge show ID" names, on the machine itself',
      },
      {
        them: all.filter(({ buffer }) => (buffer?.damaged.length ?? 0) > 0),
        detail: 'have lost unsent data to a damaged buffer',
        fix: 'look at the times and files that "svc edge show ID" names, and check the disk of the machine',
      },
    ].filter(({ them }) => them.length > 0);
    if (wrong.length > 0) {
      return {
        verdict: 'warn',
        detail: wrong.map(({ them, detail }) => `${named(them)} ${detail}`).join('; '),
        fix: wrong.map(({ fix }) => fix).join('; '),
      };
    }
    return clocks(all);
  },
});

function clocks(all: readonly EdgeRecord[]): Diagnosis {
  const connected = all.filter(({ tunnel }) => tunnel !== undefined);
  const skew = ({ tunnel }: EdgeRecord): number => tunnel?.clockSkewMs ?? 0;
  const [ahead, behind] = [
    connected.filter((edge) => skew(edge) > skewedMs),
    connected.filter((edge) => skew(edge) < -skewedMs),
  ];
  const most = ahead.length > behind.length ? ahead : behind;
  if (most.length >= fewestClocks && most.length > connected.length / 2) {
    const seconds = Math.round(
      Math.abs(most.map(skew).toSorted((a, b) => a - b)[Math.floor(most.length / 2)]!) / 1_000,
    );
    return {
      verdict: 'fail',
      detail: `the clock of this machine is about ${seconds} s ${most === ahead ? 'behind' : 'ahead'}, compared with ${most.length} of ${connected.length} hosts`,
      fix: 'sync the clock of this machine with NTP (systemd-timesyncd, chrony)',
    };
  }
  const others = [...ahead, ...behind];
  return others.length === 0
    ? { verdict: 'ok', detail: `${connected.length} of ${all.length} are connected`, fix: null }
    : {
        verdict: 'warn',
        detail: `the clocks of ${named(others)} are more than ${skewedMs / 1_000} s off`,
        fix: 'sync the clocks of those machines with NTP: their data carries their times',
      };
}

const named = (edges: readonly EdgeRecord[]): string =>
  `${edges
    .slice(0, maxNamed)
    .map(({ name }) => name)
    .join(', ')}${edges.length > maxNamed ? ` and ${edges.length - maxNamed} others` : ''}`;
