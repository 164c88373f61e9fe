import { join } from 'node:path';

import type { UpgradeOrder, UpgradeState } from 'svc/edge-protocol';
import { type Logger, messageOf } from 'svc/sdk';

import { writeText } from 'svc/tunnel';

import { readSmall } from './durable.ts';
import { readOrder } from './order.ts';

/** The last order and how far it is. */
export interface Job {
  readonly order: UpgradeOrder;
  readonly state: UpgradeState;
  /** Version of the new program, once it has reported it. */
  readonly version?: string | undefined;
  /** Folder in `<data>/versions`. */
  readonly folder?: string | undefined;
  readonly error?: string | undefined;
  /**
   * Number of times that work on it was started: a job that crashes the agent each time must end
   * itself.
   */
  readonly begun: number;
  readonly endedAt?: number | undefined;
}

const ends: ReadonlySet<UpgradeState> = new Set(['succeeded', 'failed', 'rolled_back']);

export const hasEnded = ({ state }: Job): boolean => ends.has(state);

/** `job.json` in the folder of the plugin. */
export class JobFile {
  readonly #file: string;
  #job: Job | undefined;

  constructor(folder: string, log: Logger) {
    this.#file = join(folder, 'job.json');
    this.#job = recall(this.#file, log);
  }

  current(): Job | undefined {
    return this.#job;
  }

  write(next: Job): void {
    // An end is one also when it cannot be written: otherwise nothing could be ordered any more.
    this.#job = hasEnded(next) ? next : this.#job;
    writeText(this.#file, JSON.stringify(next));
    this.#job = next;
  }
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
    log.error(
      { event: 'edge-upgrade.job_damaged', file, cause: messageOf(error) },
      'upgrade job file is damaged; abandoned the upgrade in progress; request it again',
    );
    return undefined;
  }
}
