import type { Metrics } from 'svc/sdk';

import type { HandshakeLimits } from './connection/handshake-limits.ts';
import type { Introductions } from './connection/introductions.ts';
import type { Presence } from './connection/presence.ts';
import type { EdgeTable } from './edge-table.ts';
import { statusOf } from './record.ts';

export interface SelfMetricParts {
  readonly edgeTable: EdgeTable;
  readonly presence: Presence;
  readonly limits: HandshakeLimits;
  readonly introductions: Introductions;
}

/** The figures of this plugin itself; those of single edges are in the metrics store. */
export class SelfMetrics {
  readonly #parts: SelfMetricParts;
  readonly #edges;
  readonly #tunnels;
  readonly #conflicts;
  readonly #unproved;
  readonly #waiting;
  readonly #refused;
  #refusedBefore = 0;

  constructor(metrics: Metrics, parts: SelfMetricParts) {
    this.#parts = parts;
    this.#edges = metrics.gauge('edges', 'Edges by status.', ['status']);
    this.#tunnels = metrics.gauge('tunnels', 'Tunnels that are up.');
    this.#conflicts = metrics.gauge('conflicts', 'Edges whose keys several machines use.');
    this.#unproved = metrics.gauge('unproved_sockets', 'Sockets that have not proved yet whose they are.');
    this.#waiting = metrics.gauge('introductions_waiting', 'Machines whose introduction is not kept yet.');
    this.#refused = metrics.counter('refused_total', 'Connections that were told to come back later.');
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
    this.#tunnels.set(presence.up.size);
    this.#conflicts.set(disputed);
    this.#unproved.set(limits.unproved);
    this.#waiting.set(introductions.waiting);
    this.#refused.add(limits.refused - this.#refusedBefore);
    this.#refusedBefore = limits.refused;
  }
}
