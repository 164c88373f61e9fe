import type { Metrics } from 'svc/sdk';

import type { Governor } from './connection/handshake-limits.ts';
import type { Introductions } from './connection/introductions.ts';
import type { Presence } from './connection/presence.ts';
import { statusOf } from './record.ts';
import type { Roll } from './edge-table.ts';

/** What this room tells about itself; the figures of single edges are in the metrics store. */
export function createSelfMetrics(metrics: Metrics, roll: Roll, presence: Presence, governor: Governor, introductions: Introductions): () => void {
  const edges = metrics.gauge('edges', 'Edges by status.', ['status']);
  const tunnels = metrics.gauge('tunnels', 'Tunnels that are up.');
  const conflicts = metrics.gauge('conflicts', 'Edges whose keys several machines use.');
  const unproved = metrics.gauge('unproved_sockets', 'Sockets that have not proved yet whose they are.');
  const waiting = metrics.gauge('introductions_waiting', 'Machines whose introduction is not kept yet.');
  const refused = metrics.counter('refused_total', 'Connections that were told to come back later.');
  let counted = 0;

  return () => {
    const count = { pending: 0, online: 0, offline: 0 };
    let disputed = 0;
    for (const record of roll.all()) {
      count[statusOf(record)] += 1;
      disputed += record.conflict ? 1 : 0;
    }
    Object.entries(count).forEach(([status, number]) => edges.set(number, { status }));
    tunnels.set(presence.up.size);
    conflicts.set(disputed);
    unproved.set(governor.unproved);
    waiting.set(introductions.waiting);
    refused.add(governor.refused - counted);
    counted = governor.refused;
  };
}
