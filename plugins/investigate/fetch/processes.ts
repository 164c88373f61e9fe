import type { Period, ProcessUse } from 'svc/rca';

import type { Gatherer } from './gatherer.ts';
import { processQuery, type Remembered } from './process-source.ts';
import { deviceNode } from './symptom.ts';

/** Hosts whose process tables are read, nearest first. */
const mostHosts = 4;
const hourMs = 3_600_000;

/** Returns the processes that used the most of the nearest hosts in the hour before the alert and since. */
export async function processesOf(
  gatherer: Gatherer,
  { devices, firedAt, window }: ProcessesAsked,
): Promise<readonly ProcessUse[]> {
  const found = devices.slice(0, mostHosts).map(async (device) => {
    const answer = await gatherer.ask({
      kind: 'doc',
      source: 'processes',
      query: processQuery(device),
      window: { from: firedAt - hourMs, to: window.to },
      node: deviceNode(device),
    });
    return answer === undefined
      ? []
      : (answer.value as Remembered).processes.map((process) => ({
          ...process,
          evidence: answer.id,
          node: deviceNode(device),
        }));
  });
  return (await Promise.all(found)).flat();
}

interface ProcessesAsked {
  readonly devices: readonly string[];
  readonly firedAt: number;
  readonly window: Period;
}
