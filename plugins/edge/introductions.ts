import { type Handle, isSvcError, type Logger, type Tables } from 'svc/sdk';

import type { DeviceDirectory } from '../device/contract.ts';
import { edgeStore } from './edge-store.ts';
import { cleanHostInfo, hostDigest } from './host-info.ts';
import type { EdgeRecord } from './record.ts';
import type { Roll } from './roll.ts';
import type { EdgeTables } from './tables.ts';

/** Machines introduce themselves through their edges: that is kept, and decides which device an edge watches. */
export interface Introductions {
  /** The `host_info` event of an edge whose tunnel is up; the latest counts. */
  note(record: EdgeRecord, told: unknown): void;
  /** All that were noted so far are through. */
  readonly waiting: number;
}

export interface IntroductionParts {
  readonly roll: Roll;
  readonly tables: Tables<EdgeTables>;
  readonly devices: Handle<DeviceDirectory>;
  readonly log: Logger;
}

/** A whole fleet comes back at once; the rest waits, one for each edge. */
const atOnce = 8;

export function createIntroductions({ roll, tables, devices, log }: IntroductionParts): Introductions {
  const waiting = new Map<EdgeRecord, unknown>();
  let busy = 0;

  function next(): void {
    for (const [record, told] of waiting) {
      if (busy >= atOnce) {
        return;
      }
      waiting.delete(record);
      busy += 1;
      void introduce(record, told)
        .catch((error: unknown) => {
          log.warn(
            { edge: record.id, cause: isSvcError(error) ? error.message : String(error) },
            'a machine could not be introduced; it is tried again when it connects',
          );
        })
        .finally(() => {
          busy -= 1;
          next();
        });
    }
  }

  async function introduce(record: EdgeRecord, told: unknown): Promise<void> {
    const host = cleanHostInfo(told);
    const json = JSON.stringify(host);
    if (hostDigest(json) !== record.hostDigest) {
      await tables.write((tx) => edgeStore(tx).observe(record.id, { host_info: json }));
      record.hostDigest = hostDigest(json);
    }
    const { tunnel } = record;
    if (!tunnel || !devices.available || roll.byId(record.id) !== record) {
      return;
    }
    const print = (told as { fingerprint?: unknown } | null)?.fingerprint;
    const fingerprint = typeof print === 'string' && /^[\x21-\x7e]{1,200}$/.test(print) ? print : undefined;
    const bound = await devices.get().bind({ edge_id: record.id, machine_uuid: tunnel.machine, host_info: host, fingerprint });
    const deviceId = bound.status === 'bound' ? bound.device_id : null;
    if (deviceId !== record.deviceId) {
      await tables.write((tx) => edgeStore(tx).observe(record.id, { device_id: deviceId }));
      record.deviceId = deviceId;
    }
  }

  return {
    note(record, told) {
      waiting.set(record, told);
      next();
    },
    get waiting() {
      return waiting.size + busy;
    },
  };
}
