import { join } from 'node:path';

import type { UpgradeOrder, UpgradeState } from 'svc/edge-protocol';
import { type Logger, messageOf } from 'svc/sdk';

import { readSmall, writeWhole } from './durable.ts';
import { readOrder } from './order.ts';

/** The last order and how far it is. */
export interface Job {
  readonly order: UpgradeOrder;
  readonly state: UpgradeState;
  /** Of the new program, once it has told it. */
  readonly version?: string | undefined;
  /** Its folder in `<data>/versions`. */
  readonly folder?: string | undefined;
  readonly error?: string | undefined;
  /** How often work on it was begun: a job that ends the agent each time must end itself. */
  readonly begun: number;
  readonly endedAt?: number | undefined;
}

const ends: ReadonlySet<UpgradeState> = new Set(['succeeded', 'failed', 'rolled_back']);

export const hasEnded = ({ state }: Job): boolean => ends.has(state);

export interface JobKeeper {
  current(): Job | undefined;
  keep(job: Job): void;
}

/** `job.json` in the folder of the plugin. */
export function openJob(folder: string, log: Logger): JobKeeper {
  const file = join(folder, 'job.json');
  let job = recall(file, log);
  return {
    current: () => job,
    keep(next) {
      // An end is one also when it cannot be written: otherwise nothing could be ordered any more.
      job = hasEnded(next) ? next : job;
      writeWhole(file, JSON.stringify(next));
      job = next;
    },
  };
}

function recall(file: string, log: Logger): Job | undefined {
  const text = readSmall(file);
  if (text === undefined) {
    return undefined;
  }
  try {
    const job = JSON.parse(text) as Job;
    return { ...job, order: readOrder(job.order) };
  } catch (error) {
    log.error({ cause: messageOf(error) }, `${file} is damaged, so an upgrade that was under way is forgotten`);
    return undefined;
  }
}
