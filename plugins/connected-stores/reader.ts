import type { ConnectionAddress } from 'svc/connection';
import type { DeviceReports } from 'svc/contracts/device';
import type { MetricsIngest } from 'svc/contracts/metricsdb';
import { type Clock, type Handle, type Logger, messageOf, type PluginContext } from 'svc/sdk';

import { errors } from './errors.ts';
import { copyHistory } from './history/copy-history.ts';
import type { History } from './history/history.ts';
import type { NamingRule } from './hosts/host-rules.ts';
import { PrometheusServer } from './prometheus/server.ts';
import { type HistorySource, HostMemory, type Read, readStore } from './reading.ts';

/** Store as it is read. */
export interface Readable {
  readonly name: string;
  readonly address: () => ConnectionAddress;
  readonly rules: readonly NamingRule[];
  readonly copied: readonly string[];
  /** Changes with the address and the rules: hosts are then found anew. */
  readonly version: number;
  /** History from before the store was connected, if it is still to be copied. */
  readonly history: History | undefined;
  readonly saveHistory: (history: History) => Promise<void>;
}

export interface ReaderParts {
  readonly fetch: PluginContext['fetch'];
  readonly clock: Clock;
  readonly log: Logger;
  readonly reports: Handle<DeviceReports>;
  readonly ingest: Handle<MetricsIngest>;
}

/** State of the reads of one store. */
export interface ReadState {
  readonly version: number;
  readonly memory: HostMemory;
  /** The read that is under way. */
  running: Promise<void> | undefined;
  last: (Read & { readonly at: number; readonly ms: number }) | undefined;
  failure: { readonly since: number; readonly detail: string } | undefined;
  /** The copy of its history that is under way or has ended. */
  history: { isOver: boolean; readonly abort: AbortController } | undefined;
}

/** Time after which a store that has a device no longer keeps others from it. */
const ownedMs = 120_000;
/** A server takes longer for a day than for a moment. */
const historyMs = 30_000;

/** Reads connected stores, each on its own: one that hangs holds up no other. */
export class Reader {
  readonly #parts: ReaderParts;
  readonly #states = new Map<string, ReadState>();
  /** Stores that the figures of a device come from. */
  readonly #owners = new Map<number, { readonly store: string; readonly at: number }>();

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  stateOf(name: string): ReadState | undefined {
    return this.#states.get(name);
  }

  /** Stores whose last read failed. */
  get failing(): readonly string[] {
    return [...this.#states].flatMap(([name, { failure }]) =>
      failure === undefined ? [] : [`${name}: ${failure.detail}`],
    );
  }

  /** Reads a store; a call while it is being read waits for that read. */
  async read(store: Readable, signal: AbortSignal): Promise<void> {
    let state = this.#states.get(store.name);
    if (state === undefined || state.version !== store.version) {
      const { last, failure, history } = state ?? {};
      state = {
        version: store.version,
        memory: new HostMemory(),
        running: undefined,
        last,
        failure,
        history,
      };
      this.#states.set(store.name, state);
    }
    const current = state;
    current.running ??= this.#read(store, current, signal).finally(
      () => (current.running = undefined),
    );
    await current.running;
  }

  /** Ends what is known of a disconnected store. */
  async forget(name: string): Promise<void> {
    this.#states.get(name)?.history?.abort.abort();
    this.#states.delete(name);
    for (const [device, { store }] of this.#owners) {
      if (store === name) {
        this.#owners.delete(device);
      }
    }
    await this.#tell(name, 0, true);
  }

  async #read(store: Readable, state: ReadState, signal: AbortSignal): Promise<void> {
    const { clock, fetch, reports, ingest, log } = this.#parts;
    const { name, rules, copied } = store;
    const began = clock.monotonic();
    try {
      if (!reports.available || !ingest.available) {
        throw errors.no_devices();
      }
      const read = await readStore(
        {
          name,
          server: new PrometheusServer(fetch, store.address()),
          rules,
          copied,
          reports: reports.get(),
          ingest: ingest.get(),
          now: () => clock.now(),
          signal,
          takes: (device) => this.#takes(name, device),
          isCaughtUp: (source) => this.#isCaughtUp(store, state, source, signal),
        },
        state.memory,
      );
      if (state.failure !== undefined) {
        log.info(
          { event: 'connected-stores.back', store: name },
          'connected store is responding again',
        );
      }
      state.failure = undefined;
      state.last = { ...read, at: clock.now(), ms: clock.monotonic() - began };
      await this.#tell(name, 1);
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      const detail = messageOf(error);
      if (state.failure === undefined) {
        log.warn(
          { event: 'connected-stores.read_failed', store: name, cause: detail },
          'failed to read a connected store; its hosts have no new data; will retry',
        );
      }
      state.failure = { since: state.failure?.since ?? clock.now(), detail };
      await this.#tell(name, 0);
    }
  }

  /** Begins to copy the history of a store where that is still to be done; true once it is over. */
  #isCaughtUp(
    store: Readable,
    state: ReadState,
    source: HistorySource,
    signal: AbortSignal,
  ): boolean {
    const { history, saveHistory } = store;
    if (state.history === undefined && history?.state === 'copying' && source.hosts > 0) {
      const copy = { isOver: false, abort: new AbortController() };
      state.history = copy;
      const ends = AbortSignal.any([signal, copy.abort.signal]);
      void this.#copy(store, history, source, ends)
        .then(async (copied) => {
          copy.isOver = true;
          await state.running;
          // The figures of now have waited.
          if (this.#states.get(store.name) === state) {
            await this.read({ ...store, history: copied }, signal);
          }
          await saveHistory(copied);
        })
        .catch((error: unknown) => {
          copy.isOver = true;
          if (!ends.aborted) {
            this.#parts.log.warn(
              {
                event: 'connected-stores.history_failed',
                store: store.name,
                cause: messageOf(error),
              },
              'failed to copy the history of a connected store',
            );
          }
        });
    }
    return state.history?.isOver ?? true;
  }

  async #copy(
    { name, saveHistory }: Readable,
    history: History,
    source: HistorySource,
    signal: AbortSignal,
  ): Promise<History> {
    const { clock, log } = this.#parts;
    const copied = await copyHistory(
      {
        ...source,
        signal,
        timeoutMs: historyMs,
        save: saveHistory,
        elapsed: () => clock.monotonic(),
      },
      // After a restart, up to now.
      { ...history, to: Math.floor(clock.now()) },
    );
    log.info(
      { event: 'connected-stores.history', store: name, ...copied },
      'history of a connected store copied',
    );
    return copied;
  }

  /** Writes whether a store was read, for the rule that tells of one that was not. */
  async #tell(store: string, value: 0 | 1, stale = false): Promise<void> {
    const { ingest, clock, log } = this.#parts;
    const row = {
      labels: { __name__: 'svc_connected_store_up', store },
      time: clock.now(),
      value,
      ...(stale && { stale }),
    };
    try {
      await (ingest.available ? ingest.get().write([row]) : undefined);
    } catch (error) {
      log.debug(
        { store, cause: messageOf(error) },
        'failed to write the status of a connected store to the metrics store',
      );
    }
  }

  #takes(store: string, device: number): boolean {
    const now = this.#parts.clock.now();
    const owner = this.#owners.get(device);
    if (owner !== undefined && owner.store !== store && now - owner.at < ownedMs) {
      return false;
    }
    this.#owners.set(device, { store, at: now });
    return true;
  }
}
