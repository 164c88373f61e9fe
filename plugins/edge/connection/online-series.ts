import type { Handle } from 'svc/sdk';

import type { MetricsIngest, SampleRow } from '../../metricsdb/contract.ts';
import type { Presence } from './presence.ts';
import type { EdgeRecord } from '../record.ts';
import type { Roll } from '../edge-table.ts';

/**
 * `svc_edge_online` in the metrics store: 1 or 0 for every edge that watches a device. An edge that is still awaited after a restart
 * of the manager has no sample, neither good nor bad; one that is deleted, renamed or moved to another device ends its series.
 */
export interface OnlineSeries {
  write(now: number): Promise<void>;
  /** A sample more for these, which came or went just now. */
  writeSome(now: number, edgeIds: Iterable<number>): Promise<void>;
}

interface Labels {
  readonly device_id: string;
  readonly edge_id: string;
  readonly name: string;
}

const metric = 'svc_edge_online';

export function createOnlineSeries(roll: Roll, presence: Presence, store: Handle<MetricsIngest>): OnlineSeries {
  /** As they were written last. */
  const written = new Map<number, Labels>();

  const rowOf = (labels: Labels, time: number, value: number, stale = false): SampleRow => ({
    labels: { __name__: metric, ...labels },
    ...{ time, value },
    ...(stale && { stale }),
  });

  function labelsOf({ id, deviceId, name }: EdgeRecord): Labels {
    const before = written.get(id);
    return before?.name === name && before.device_id === String(deviceId) ? before : { device_id: String(deviceId), edge_id: String(id), name };
  }

  return {
    async write(now) {
      if (!store.available) {
        return;
      }
      const rows: SampleRow[] = [];
      const bound = [...roll.all()].filter((record) => record.deviceId !== null && !presence.isAwaited(record));
      const next = new Map(bound.map((record) => [record.id, labelsOf(record)]));
      for (const [id, labels] of written) {
        const record = roll.byId(id);
        if (next.get(id) !== labels && !(record && presence.isAwaited(record))) {
          rows.push(rowOf(labels, now, 0, true));
        }
      }
      for (const record of bound) {
        rows.push(rowOf(next.get(record.id)!, now, record.online ? 1 : 0));
      }
      if (rows.length === 0) {
        return;
      }
      await store.get().write(rows);
      written.clear();
      next.forEach((labels, id) => written.set(id, labels));
    },

    async writeSome(now, edgeIds) {
      const rows = [...edgeIds].flatMap((id) => {
        const record = roll.byId(id);
        if (!record || record.deviceId === null || !store.available) {
          return [];
        }
        const before = written.get(id);
        const labels = labelsOf(record);
        if (before && before !== labels) {
          // The look at all of them ends the one series and begins the other.
          return [];
        }
        written.set(id, labels);
        return [rowOf(labels, now, record.online ? 1 : 0)];
      });
      if (rows.length > 0) {
        await store.get().write(rows);
      }
    },
  };
}
