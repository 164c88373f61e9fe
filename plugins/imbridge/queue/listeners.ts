import type { ImPorts } from 'svc/contracts/imbridge';
import {
  type Clock,
  type Logger,
  messageOf,
  patience,
  restarts,
  type Scope,
  type Tables,
} from 'svc/sdk';

import type { Apps } from '../apps/apps.ts';
import type { Intake } from './intake.ts';
import type { AppRow, ImTables } from '../store/tables.ts';

export interface ListenerParts {
  readonly tables: Tables<ImTables>;
  readonly apps: Apps;
  readonly intake: Intake;
  readonly ports: ImPorts;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

interface Listener {
  /** Edition it was opened with: another edition opens another connection. */
  readonly edition: string;
  readonly scope: ReturnType<Scope['child']>;
}

const policy = {
  ...patience,
  firstMs: 1_000,
  maxMs: 60_000,
  stableMs: 60_000,
  maxRestarts: Number.MAX_SAFE_INTEGER,
};

/** Apps that are reached without a public address: we dial, and dial again whenever that ends. */
export class Listeners {
  readonly #parts: ListenerParts;
  readonly #open = new Map<string, Listener>();
  #last: Promise<void> = Promise.resolve();

  constructor(parts: ListenerParts) {
    this.#parts = parts;
  }

  /** Connections as apps are now; one after the other, however often it is asked. */
  align(): Promise<void> {
    this.#last = this.#last.catch(() => undefined).then(() => this.#align());
    return this.#last;
  }

  async #align(): Promise<void> {
    const { apps, scope } = this.#parts;
    const rows = (await apps.enabled()).filter(
      (row) => row.mode === 'stream' && apps.platform(row.provider)?.listen !== undefined,
    );
    for (const [id, listener] of this.#open) {
      if (!rows.some((row) => row.id === id && editionOf(row) === listener.edition)) {
        this.#open.delete(id);
        await listener.scope.close();
      }
    }
    for (const row of rows.filter(({ id }) => !this.#open.has(id))) {
      const child = scope.child(`stream of ${row.name}`);
      this.#open.set(row.id, { edition: editionOf(row), scope: child });
      child.task('listen', (signal) => this.#listen(row, child, signal));
    }
  }

  async #listen(app: AppRow, scope: Scope, signal: AbortSignal): Promise<void> {
    const { clock, log, random } = this.#parts;
    let waits = restarts(policy, random);
    let leave = (): void => undefined;
    signal.addEventListener('abort', () => leave(), { once: true });
    while (!signal.aborted) {
      const began = clock.monotonic();
      try {
        await this.#once(app, scope, signal, () => {
          waits = restarts(policy, random);
        });
      } catch (error) {
        if (!signal.aborted) {
          log.warn(
            {
              event: 'im.stream_lost',
              app: app.id,
              provider: app.provider,
              cause: messageOf(error),
            },
            'lost the event stream from a chat platform; reconnecting',
          );
        }
      }
      const wait = waits(clock.monotonic(), clock.monotonic() - began) ?? policy.maxMs;
      if (!signal.aborted) {
        await new Promise<void>((resolve) => {
          leave = resolve;
          scope.timeout('open the stream again', Math.max(1, Math.ceil(wait)), () => resolve());
        });
      }
    }
  }

  async #once(
    app: AppRow,
    scope: Scope,
    signal: AbortSignal,
    connected: () => void,
  ): Promise<void> {
    const { apps, intake, ports, tables } = this.#parts;
    const platform = apps.platform(app.provider);
    const row = await apps.row(app.id);
    let cursor = row.cursor;
    await platform?.listen?.(apps.open(row), ports, {
      signal,
      connected,
      every: (ms, tick) => scope.interval('keep the stream', ms, tick),
      take: async (events) => {
        await intake.take(row, events);
        // Killed here, the platform repeats them, and finds their keys taken.
        await tables.write((tx) =>
          tx.updateTable('imbridge_apps').set({ cursor }).where('id', '=', row.id).execute(),
        );
      },
      cursor: {
        get: () => cursor,
        set(next) {
          cursor = next;
        },
      },
    });
  }
}

const editionOf = ({ id, updated_at: at, provider }: AppRow): string => `${provider}|${id}|${at}`;
