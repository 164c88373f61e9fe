import type { DeviceDirectory } from 'svc/contracts/device';
import type { Introduced } from 'svc/edge-protocol';
import { type HostInfo, readHostInfo } from 'svc/edge-protocol';
import { type Handle, type Logger, messageOf, type Tables } from 'svc/sdk';

import { edgeStore } from '../record/edge-store.ts';
import type { EdgeTable } from '../record/edge-table.ts';
import type { Neighbours } from '../record/neighbours.ts';
import { type EdgeRecord, hostDigest } from '../record/record.ts';
import type { EdgeTables } from '../record/tables.ts';
import type { Tunnel } from '../record/tunnel.ts';

export interface IntroductionParts {
  readonly edgeTable: EdgeTable;
  readonly tables: Tables<EdgeTables>;
  readonly devices: Handle<DeviceDirectory>;
  readonly neighbours: Neighbours;
  readonly log: Logger;
}

interface Waiting {
  hostInfo: unknown;
  readonly done: Promise<Introduced>;
  readonly settle: (work: Promise<Introduced>) => void;
}

/** A whole fleet comes back at once; the rest waits, one for each edge. */
const atOnce = 32;

/** Machines introduce themselves through their edges: that is kept, and decides which device an edge watches. */
export class Introductions {
  readonly #parts: IntroductionParts;
  readonly #waiting = new Map<EdgeRecord, Waiting>();
  #running = 0;

  constructor(parts: IntroductionParts) {
    this.#parts = parts;
  }

  /** Queued plus running. */
  get waiting(): number {
    return this.#waiting.size + this.#running;
  }

  /**
   * Receives host info from an edge whose tunnel is up; the latest one counts. Resolves once its
   * device is known, or why it has none.
   */
  receive(record: EdgeRecord, hostInfo: unknown): Promise<Introduced> {
    const queued = this.#waiting.get(record);
    if (queued) {
      queued.hostInfo = hostInfo;
      return queued.done;
    }
    let settle!: Waiting['settle'];
    const done = new Promise<Introduced>((resolve) => (settle = resolve));
    this.#waiting.set(record, { hostInfo, done, settle });
    this.#next();
    return done;
  }

  #next(): void {
    for (const [record, { hostInfo, done, settle }] of this.#waiting) {
      if (this.#running >= atOnce) {
        return;
      }
      this.#waiting.delete(record);
      this.#running += 1;
      settle(this.#introduce(record, hostInfo));
      void done
        .catch((error: unknown) => {
          record.deviceReason ??= messageOf(error);
          this.#parts.log.warn(
            { event: 'edge.binding_failed', edge: record.id, cause: messageOf(error) },
            'failed to bind an edge to its device; retrying when it next connects',
          );
        })
        .finally(() => {
          this.#running -= 1;
          this.#next();
        });
    }
  }

  async #introduce(record: EdgeRecord, hostInfo: unknown): Promise<Introduced> {
    const { edgeTable, tables, devices } = this.#parts;
    const host = readHostInfo(hostInfo);
    const json = JSON.stringify(host);
    const digest = hostDigest(json);
    const { tunnel } = record;
    const isThere =
      tunnel !== undefined && devices.available && edgeTable.byId(record.id) === record;
    const { deviceId, reason, key } = isThere
      ? await this.#bind(record, tunnel, host, hostInfo)
      : asItIs(record);
    const takes = deviceId === null ? record.takesDevice : null;
    const news = {
      ...(digest !== record.hostDigest && { host_info: json }),
      ...(deviceId !== record.deviceId && { device_id: deviceId }),
      ...(reason !== record.deviceReason && { device_reason: reason }),
      ...(key !== record.machineKey && { machine_key: key }),
      ...(takes !== record.takesDevice && { takes_device: takes }),
    };
    if (Object.keys(news).length > 0) {
      await tables.write((tx) => edgeStore(tx).observe(record.id, news));
      record.hostDigest = digest;
      record.deviceId = deviceId;
      record.deviceReason = reason;
      record.machineKey = key;
      record.takesDevice = takes;
    }
    return { device_id: deviceId, reason };
  }

  /** The device that this edge watches from now on, or why none. The first key of its machine is the one that counts. */
  async #bind(
    record: EdgeRecord,
    { machine, machineKey }: Tunnel,
    host: HostInfo,
    given: unknown,
  ): Promise<Standing> {
    const print = (given as { fingerprint?: unknown } | null)?.fingerprint;
    const fingerprint =
      typeof print === 'string' && /^[\x21-\x7e]{1,200}$/.test(print) ? print : undefined;
    this.#compare(record, fingerprint, host);
    const takes = record.takesDevice ?? undefined;
    const bound = await this.#parts.devices.get().bind({
      edge_id: record.id,
      machine_uuid: machine,
      machine_key: machineKey,
      takes_device: takes,
      host_info: host,
      fingerprint,
    });
    return bound.status === 'bound'
      ? { deviceId: bound.device_id, reason: null, key: record.machineKey ?? machineKey ?? null }
      : { deviceId: null, reason: bound.reason, key: record.machineKey };
  }

  /** Several agents on one machine are no error, but mostly an oversight. */
  #compare(record: EdgeRecord, fingerprint: string | undefined, host: HostInfo): void {
    const { neighbours, log } = this.#parts;
    const known = neighbours.of(record).length;
    const others = neighbours.introduced(record, fingerprint, host);
    if (others.length > known) {
      log.warn(
        { event: 'edge.machine_shared', edge: record.id, others: others.map(({ id }) => id) },
        'several agents are running on one machine, and each counts as a device; keep only one',
      );
    }
  }
}

interface Standing {
  readonly deviceId: number | null;
  readonly reason: string | null;
  readonly key: string | null;
}

const asItIs = ({ deviceId, deviceReason: reason, machineKey: key }: EdgeRecord): Standing => ({
  deviceId,
  reason,
  key,
});
