import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from 'kysely';
import { Jobs, type JobsContext } from 'svc/jobs';
import type { Clock, Logger, Tables } from 'svc/sdk';

export interface SteppedOptions<T> {
  readonly tables: Tables<T>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly process?: string;
  readonly generation?: number;
}

export interface SteppedJobs<T> {
  readonly jobs: Jobs<T>;
  /** Does all that is due at this instant; puts it down when the generation leaves. */
  turn(leaving?: AbortSignal): Promise<void>;
  /** Does what falls due until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** Jobs of a plugin that are done when the test says so, by a clock that the test moves. */
export function steppedJobs<T>(
  id: string,
  { tables, clock, log, process = 'p1', generation = 1 }: SteppedOptions<T>,
): SteppedJobs<T> {
  let run!: SteppedJobs<T>['run'];
  const heard: (() => void)[] = [];
  const jobs = new Jobs<T>(
    {
      id,
      generation,
      clock,
      log,
      ids: {
        uuid: () => randomUUID(),
        token: (bytes = 16) => randomBytes(bytes).toString('base64url'),
      },
      scope: {
        signal: new AbortController().signal,
        timeout(_label: string, ms: number, tick: () => void) {
          const timer = setTimeout(tick, ms).unref();
          return () => clearTimeout(timer);
        },
        task: (_label: string, work: SteppedJobs<T>['run']) => void (run = work),
      },
      metrics: { counter: () => ({ add() {} }) },
      events: {
        on: (_type: unknown, listener: () => void) => void heard.push(listener),
        emit: () => heard.forEach((listener) => listener()),
      },
      extend: { contribute() {} },
    } as unknown as JobsContext,
    { tables, process },
  );
  const isOpen = async (): Promise<boolean> => {
    const now = Math.floor(clock.now());
    const { rows } = await sql`
      select 1 from ${sql.table(`${id}_jobs`)}
      where (state = 'running' and owner = ${`${process}.${generation}`})
        or (state = 'waiting' and (due_at <= ${now} or due_at > ${now} + wait_ms)) limit 1`.execute(
      tables.read,
    );
    return rows.length > 0;
  };
  return {
    jobs,
    run: (signal) => run(signal),
    async turn(leaving) {
      const stop = new AbortController();
      const leave = (): void => stop.abort();
      leaving?.addEventListener('abort', leave);
      const left = run(stop.signal);
      while (!stop.signal.aborted && (await isOpen())) {
        await sleep(1);
      }
      leave();
      leaving?.removeEventListener('abort', leave);
      await left;
    },
  };
}
