import type { Metrics } from 'svc/sdk';

import type { HandshakeLimits } from './connection/handshake-limits.ts';
import type { Introductions } from './connection/introductions.ts';
import type { Presence } from './presence/presence.ts';
import type { EdgeTable } from './record/edge-table.ts';
import { statusOf } from './record/record.ts';

export interface SelfMetricParts {
  readonly edgeTable: EdgeTable;
  readonly presence: Presence;
  readonly limits: HandshakeLimits;
  readonly introductions: Introductions;
}

const toleratedMs = 2_000;
const maxSkewed = 500;

/** The figures of this plugin itself; those of single edges are in the metrics store. */
export class SelfMetrics {
  readonly #parts: SelfMetricParts;
  readonly #edges;
  readonly #tunnels;
  readonly #flapping;
  readonly #conflicts;
  readonly #unproved;
  readonly #waiting;
  readonly #refused;
  readonly #skews;
  readonly #skewed = new Map<number, Readonly<Record<string, string>>>();
  #refusedBefore = 0;

  constructor(metrics: Metrics, parts: SelfMetricParts) {
    this.#parts = parts;
    this.#edges = metrics.gauge('edges', 'Edges by status.', ['status']);
    this.#tunnels = metrics.gauge('tunnels', 'Tunnels that are up.');
    this.#flapping = metrics.gauge(
      'flapping',
      'Edges that came back at least six times within the hour.',
    );
    this.#conflicts = metrics.gauge('conflicts', 'Edges whose keys several machines use.');
    this.#unproved = metrics.gauge(
      'unproved_sockets',
      'Sockets that have not proved yet whose they are.',
    );
    this.#waiting = metrics.gauge(
      'introductions_waiting',
      'Machines whose enrolment is not stored yet.',
    );
    this.#skews = metrics.gauge(
      'clock_skew_seconds',
      'How far clocks of edges are ahead, where it is more than two seconds.',
      ['edge_id', 'device_id'],
    );
    this.#refused = metrics.counter('refused_total', 'Connections that were asked to retry later.');
  }

  observe(): void {
    const { edgeTable, presence, limits, introductions } = this.#parts;
    const count = { pending: 0, online: 0, offline: 0 };
    let disputed = 0;
    for (const record of edgeTable.all()) {
      count[statusOf(record)] += 1;
      disputed += record.conflict ? 1 : 0;
    }
    Object.entries(count).forEach(([status, number]) => this.#edges.set(number, { status }));
    this.#observeSkews();
    this.#tunnels.set(presence.up.size);
    this.#flapping.set(presence.comings.flapping().length);
    this.#conflicts.set(disputed);
    this.#unproved.set(limits.unproved);
    this.#waiting.set(introductions.waiting);
    this.#refused.add(limits.refused - this.#refusedBefore);
    this.#refusedBefore = limits.refused;
  }

  /**
   * Records clock skews, which falsify the times of an edge's measurements: the rule
   * `edge_clock_skew` reports them.
   */
  #observeSkews(): void {
    for (const { id, deviceId, tunnel } of this.#parts.edgeTable.all()) {
      const skewMs = tunnel?.clockSkewMs ?? 0;
      const labels = { edge_id: String(id), device_id: String(deviceId ?? '') };
      if (
        Math.abs(skewMs) > toleratedMs &&
        (this.#skewed.has(id) || this.#skewed.size < maxSkewed)
      ) {
        this.#skewed.set(id, labels);
        this.#skews.set(skewMs / 1000, labels);
      } else if (this.#skewed.has(id)) {
        this.#skews.set(0, this.#skewed.get(id));
        this.#skewed.delete(id);
      }
    }
  }
}
