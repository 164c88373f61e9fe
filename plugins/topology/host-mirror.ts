import type { DeviceDirectory, DeviceEntry } from 'svc/contracts/device';
import { type Clock, type Handle, isSvcError, type Logger, type Tables } from 'svc/sdk';

import { nodeStore } from './node-store.ts';
import { relationStore } from './relation-store.ts';
import type { NodeRow, TopologyDb, TopologyTables } from './tables.ts';

export interface MirrorParts {
  readonly tables: Tables<TopologyTables>;
  readonly devices: Handle<DeviceDirectory>;
  readonly clock: Clock;
  readonly log: Logger;
}

const batch = 500;
/** Max noted devices; beyond it, one full scan is cheaper. */
const maxNoted = 10_000;

/**
 * Mirror that keeps one host node for each device, by its id. The directory is queried for the
 * truth, whatever an event said.
 */
export class HostMirror {
  readonly #tables: Tables<TopologyTables>;
  readonly #devices: Handle<DeviceDirectory>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #noted = new Set<number>();
  #all = true;

  constructor({ tables, devices, clock, log }: MirrorParts) {
    this.#tables = tables;
    this.#devices = devices;
    this.#clock = clock;
    this.#log = log;
  }

  /** Notes that this device has changed in some way. */
  note(deviceId: number): void {
    this.#noted.add(deviceId);
    if (this.#noted.size > maxNoted) {
      this.#noted.clear();
      this.#all = true;
    }
  }

  /** Events may have been missed: looks at every device, and at every host node, the next time. */
  noteAll(): void {
    this.#all = true;
  }

  /**
   * Aligns the nodes with the directory, as far as needed. False if storage could not accept it, to
   * be retried.
   */
  async catchUp(signal: AbortSignal): Promise<boolean> {
    if (!this.#devices.available) {
      return true;
    }
    try {
      if (this.#all) {
        this.#all = false;
        await this.#mirrorAll(signal);
      }
      await this.#mirrorNoted(signal);
      return true;
    } catch (error) {
      // How far it came is not known.
      this.#all = true;
      if (!isSvcError(error)) {
        throw error;
      }
      this.#log.warn(
        { event: 'topology.mirror_failed', cause: error.message },
        'failed to update host nodes from devices; retrying',
      );
      return false;
    }
  }

  async #mirrorAll(signal: AbortSignal): Promise<void> {
    const sources = [
      async (after: number) => (await this.#devices.get().page(after, batch)).map(({ id }) => id),
      (after: number) => nodeStore(this.#tables.read, undefined).mirrored(after, batch),
    ];
    for (const next of sources) {
      for (
        let ids = await next(0);
        ids.length > 0 && !signal.aborted;
        ids = await next(ids.at(-1)!)
      ) {
        await this.#mirror(ids);
      }
    }
  }

  async #mirrorNoted(signal: AbortSignal): Promise<void> {
    while (this.#noted.size > 0 && !signal.aborted) {
      const ids = [...this.#noted].slice(0, batch);
      ids.forEach((id) => this.#noted.delete(id));
      await this.#mirror(ids);
    }
  }

  async #mirror(ids: readonly number[]): Promise<void> {
    const entries = new Map(
      (await this.#devices.get().many(ids)).map((entry) => [entry.id, entry]),
    );
    const nodes = new Map(
      (await nodeStore(this.#tables.read, undefined).ofDevices(ids)).map((node) => [
        node.device_id!,
        node,
      ]),
    );
    const wrong = ids.filter((id) => isWrong(entries.get(id), nodes.get(id)));
    if (wrong.length > 0) {
      await this.#tables.write(async (tx) => {
        // Looked at again: a generation that is on its way out may have been at it as well.
        const there = new Map(
          (await nodeStore(tx, undefined).ofDevices(wrong)).map((node) => [node.device_id!, node]),
        );
        for (const id of wrong) {
          await settle(tx, entries.get(id), there.get(id), this.#clock.now());
        }
      });
    }
  }
}

async function settle(
  tx: TopologyDb,
  entry: DeviceEntry | undefined,
  node: NodeRow | undefined,
  now: number,
): Promise<void> {
  if (entry === undefined && node !== undefined) {
    await relationStore(tx, undefined).removeAt(node.id);
    await nodeStore(tx, undefined).remove(node.id);
  } else if (entry === undefined) {
    return;
  } else if (node === undefined) {
    const { id, display_name: name, tags } = entry;
    await nodeStore(tx, undefined).insert({
      type: 'host',
      name,
      props: '{}',
      tags,
      device_id: id,
      created_at: now,
      updated_at: now,
    });
  } else {
    await nodeStore(tx, undefined).update(
      node.id,
      { name: entry.display_name, tags: entry.tags },
      now,
    );
  }
}

const isWrong = (entry: DeviceEntry | undefined, node: NodeRow | undefined): boolean =>
  entry === undefined
    ? node !== undefined
    : node === undefined ||
      node.name !== entry.display_name ||
      node.tags !== JSON.stringify(entry.tags);
