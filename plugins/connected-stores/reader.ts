import type { ConnectionAddress } from 'svc/connection';
import type { DeviceReports } from 'svc/contracts/device';
import type { MetricsIngest } from 'svc/contracts/metricsdb';
import { type Clock, type Handle, type Logger, messageOf, type PluginContext } from 'svc/sdk';

import { errors } from './errors.ts';
import type { NamingRule } from './hosts/host-rules.ts';
import { PrometheusServer } from './prometheus/server.ts';
import { HostMemory, type Read, readStore } from './reading.ts';

/** Store as it is read. */
export interface Readable {
  readonly name: string;
  readonly address: () => ConnectionAddress;
  readonly rules: readonly NamingRule[];
  readonly copied: readonly string[];
  /** Changes with the address and the rules: hosts are then found anew. */
  readonly version: number;
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
}

/** Time after which a store that has a device no longer keeps others from it. */
const ownedMs = 120_000;

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
      const { last, failure } = state ?? {};
      state = {
        version: store.version,
        memory: new HostMemory(),
        running: undefined,
        last,
        failure,
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
