import { readHostInfo } from 'svc/probe';
import { type Handle, isSvcError, type Logger, type Tables } from 'svc/sdk';

import type { DeviceDirectory, HostInfo } from '../../device/contract.ts';
import { edgeStore } from '../edge-store.ts';
import { hostDigest } from './host-digest.ts';
import type { EdgeRecord } from '../record.ts';
import type { Roll } from '../edge-table.ts';
import type { EdgeTables } from '../tables.ts';
import type { Tunnel } from './tunnel.ts';

/** Machines introduce themselves through their edges: that is kept, and decides which device an edge watches. */
export interface Introductions {
  /** What an edge whose tunnel is up tells of its host; the latest counts. Resolves once its device is known. */
  note(record: EdgeRecord, told: unknown): Promise<void>;
  /** All that were noted so far are through. */
  readonly waiting: number;
}

export interface IntroductionParts {
  readonly roll: Roll;
  readonly tables: Tables<EdgeTables>;
  readonly devices: Handle<DeviceDirectory>;
  readonly log: Logger;
}

interface Waiting {
  told: unknown;
  readonly done: Promise<void>;
  readonly settle: (work: Promise<void>) => void;
}

/** A whole fleet comes back at once; the rest waits, one for each edge. */
const atOnce = 32;

export function createIntroductions({ roll, tables, devices, log }: IntroductionParts): Introductions {
  const waiting = new Map<EdgeRecord, Waiting>();
  let busy = 0;

  function next(): void {
    for (const [record, { told, done, settle }] of waiting) {
      if (busy >= atOnce) {
        return;
      }
      waiting.delete(record);
      busy += 1;
      settle(introduce(record, told));
      void done
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
    const host = readHostInfo(told);
    const json = JSON.stringify(host);
    const digest = hostDigest(json);
    const { tunnel } = record;
    const deviceId = tunnel && devices.available && roll.byId(record.id) === record ? await bind(record, tunnel, host, told) : record.deviceId;
    const news = { ...(digest !== record.hostDigest && { host_info: json }), ...(deviceId !== record.deviceId && { device_id: deviceId }) };
    if (Object.keys(news).length > 0) {
      await tables.write((tx) => edgeStore(tx).observe(record.id, news));
      record.hostDigest = digest;
      record.deviceId = deviceId;
    }
  }

  /** The device that this edge watches from now on. */
  async function bind({ id }: EdgeRecord, { machine }: Tunnel, host: HostInfo, told: unknown): Promise<number | null> {
    const print = (told as { fingerprint?: unknown } | null)?.fingerprint;
    const fingerprint = typeof print === 'string' && /^[\x21-\x7e]{1,200}$/.test(print) ? print : undefined;
    const bound = await devices.get().bind({ edge_id: id, machine_uuid: machine, host_info: host, fingerprint });
    return bound.status === 'bound' ? bound.device_id : null;
  }

  return {
    note(record, told) {
      let one = waiting.get(record);
      if (one) {
        one.told = told;
        return one.done;
      }
      let settle!: Waiting['settle'];
      const done = new Promise<void>((resolve) => (settle = resolve));
      one = { told, done, settle };
      waiting.set(record, one);
      next();
      return done;
    },
    get waiting() {
      return waiting.size + busy;
    },
  };
}
