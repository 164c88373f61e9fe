import { type Clock, type Handle, isSvcError, type Logger, messageOf, type Tables } from 'svc/sdk';

import type { DeviceDirectory, DeviceEntry } from '../device/contract.ts';
import { nodeStore } from './node-store.ts';
import { relationStore } from './relation-store.ts';
import type { NodeRow, TopologyDb, TopologyTables } from './tables.ts';

/** Keeps one host node for each device, by its id. The directory is asked for what is true, whatever an event said. */
export interface HostMirror {
  /** Something about this device is another way. */
  note(deviceId: number): void;
  /** Events may have been missed: looks at every device, and at every host node, the next time. */
  noteAll(): void;
  /** Makes the nodes what the directory says, as far as that is known to be needed. What storage cannot take waits. */
  catchUp(signal: AbortSignal): Promise<void>;
}

export interface MirrorParts {
  readonly tables: Tables<TopologyTables>;
  readonly devices: Handle<DeviceDirectory>;
  readonly clock: Clock;
  readonly log: Logger;
}

const batch = 500;
/** With more than that, one look at everything is cheaper to remember. */
const mostNoted = 10_000;

export function createHostMirror({ tables: { read, write }, devices, clock, log }: MirrorParts): HostMirror {
  const noted = new Set<number>();
  let all = true;

  async function mirror(ids: readonly number[]): Promise<void> {
    const entries = new Map((await devices.get().many(ids)).map((entry) => [entry.id, entry]));
    const nodes = new Map((await nodeStore(read).ofDevices(ids)).map((node) => [node.device_id!, node]));
    const wrong = ids.filter((id) => isWrong(entries.get(id), nodes.get(id)));
    if (wrong.length > 0) {
      await write(async (tx) => {
        // Looked at again: a generation that is on its way out may have been at it as well.
        const there = new Map((await nodeStore(tx).ofDevices(wrong)).map((node) => [node.device_id!, node]));
        for (const id of wrong) {
          await settle(tx, entries.get(id), there.get(id));
        }
      });
    }
  }

  async function settle(tx: TopologyDb, entry: DeviceEntry | undefined, node: NodeRow | undefined): Promise<void> {
    const now = clock.now();
    if (entry === undefined && node !== undefined) {
      await relationStore(tx).removeAt(node.id);
      await nodeStore(tx).remove(node.id);
    } else if (entry === undefined) {
      return;
    } else if (node === undefined) {
      const { id, display_name: name, tags } = entry;
      await nodeStore(tx).insert({ type: 'host', name, props: '{}', tags, device_id: id, created_at: now, updated_at: now });
    } else {
      await nodeStore(tx).update(node.id, { name: entry.display_name, tags: entry.tags }, now);
    }
  }

  async function mirrorAll(signal: AbortSignal): Promise<void> {
    const sources = [
      async (after: number) => (await devices.get().page(after, batch)).map(({ id }) => id),
      (after: number) => nodeStore(read).mirrored(after, batch),
    ];
    for (const next of sources) {
      for (let ids = await next(0); ids.length > 0 && !signal.aborted; ids = await next(ids.at(-1)!)) {
        await mirror(ids);
      }
    }
  }

  async function work(signal: AbortSignal): Promise<void> {
    if (all) {
      all = false;
      await mirrorAll(signal);
    }
    while (noted.size > 0 && !signal.aborted) {
      const ids = [...noted].slice(0, batch);
      ids.forEach((id) => noted.delete(id));
      await mirror(ids);
    }
  }

  return {
    note(deviceId) {
      noted.add(deviceId);
      if (noted.size > mostNoted) {
        noted.clear();
        all = true;
      }
    },
    noteAll() {
      all = true;
    },
    async catchUp(signal) {
      if (!devices.available) {
        return;
      }
      try {
        await work(signal);
      } catch (error) {
        // How far it came is not known.
        all = true;
        if (!isSvcError(error)) {
          throw error;
        }
        log.warn({ cause: messageOf(error) }, 'the host nodes of devices must wait');
      }
    },
  };
}

const isWrong = (entry: DeviceEntry | undefined, node: NodeRow | undefined): boolean =>
  entry === undefined ? node !== undefined : node === undefined || node.name !== entry.display_name || node.tags !== JSON.stringify(entry.tags);
