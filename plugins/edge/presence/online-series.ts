import type { MetricsIngest, SampleRow } from 'svc/contracts/metricsdb';
import type { Handle } from 'svc/sdk';

import type { EdgeTable } from '../record/edge-table.ts';
import type { EdgeRecord } from '../record/record.ts';
import type { Presence } from './presence.ts';

export interface OnlineSeriesParts {
  readonly edgeTable: Pick<EdgeTable, 'byId' | 'all'>;
  readonly presence: Pick<Presence, 'isAwaited'>;
  readonly store: Handle<MetricsIngest>;
}

interface Labels {
  readonly device_id: string;
  readonly edge_id: string;
  readonly name: string;
}

const metric = 'svc_edge_online';

/**
 * `svc_edge_online` in the metrics store: 1 or 0 for every edge that watches a device. An edge that is still awaited after a restart
 * of the manager has no sample, neither good nor bad; one that is deleted, renamed or moved to another device ends its series.
 */
export class OnlineSeries {
  readonly #edgeTable: OnlineSeriesParts['edgeTable'];
  readonly #presence: OnlineSeriesParts['presence'];
  readonly #store: Handle<MetricsIngest>;
  /** Labels as they were written last. */
  readonly #written = new Map<number, Labels>();
  readonly #turned = new Set<number>();

  constructor({ edgeTable, presence, store }: OnlineSeriesParts) {
    this.#edgeTable = edgeTable;
    this.#presence = presence;
    this.#store = store;
  }

  async write(now: number): Promise<void> {
    if (!this.#store.available) {
      return;
    }
    const rows: SampleRow[] = [];
    const bound = [...this.#edgeTable.all()].filter(
      (record) => record.deviceId !== null && !this.#presence.isAwaited(record),
    );
    const next = new Map(bound.map((record) => [record.id, this.#labelsOf(record)]));
    for (const [id, labels] of this.#written) {
      const record = this.#edgeTable.byId(id);
      if (next.get(id) !== labels && !(record && this.#presence.isAwaited(record))) {
        rows.push(rowOf(labels, now, 0, true));
      }
    }
    for (const record of bound) {
      rows.push(rowOf(next.get(record.id)!, now, record.online ? 1 : 0));
    }
    if (rows.length === 0) {
      return;
    }
    await this.#store.get().write(rows);
    this.#written.clear();
    next.forEach((labels, id) => this.#written.set(id, labels));
  }

  /** Records that this edge just connected or disconnected. */
  turned(edgeId: number): void {
    this.#turned.add(edgeId);
  }

  /** A sample more for those that turned, at once and together: a reader of the series need not wait for the next look at all of them. */
  async writeTurned(now: number): Promise<void> {
    const ids = [...this.#turned];
    this.#turned.clear();
    const rows = ids.flatMap((id) => {
      const record = this.#edgeTable.byId(id);
      if (!record || record.deviceId === null || !this.#store.available) {
        return [];
      }
      const before = this.#written.get(id);
      const labels = this.#labelsOf(record);
      if (before && before !== labels) {
        // The look at all of them ends the one series and begins the other.
        return [];
      }
      this.#written.set(id, labels);
      return [rowOf(labels, now, record.online ? 1 : 0)];
    });
    if (rows.length > 0) {
      await this.#store.get().write(rows);
    }
  }

  #labelsOf({ id, deviceId, name }: EdgeRecord): Labels {
    const before = this.#written.get(id);
    return before?.name === name && before.device_id === String(deviceId)
      ? before
      : { device_id: String(deviceId), edge_id: String(id), name };
  }
}

const rowOf = (labels: Labels, time: number, value: number, stale = false): SampleRow => ({
  labels: { __name__: metric, ...labels },
  time,
  value,
  ...(stale && { stale }),
});
