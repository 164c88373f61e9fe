import { isSvcError, type Metrics } from 'svc/sdk';

import type { PushAnswer } from '../metricsdb/contract.ts';
import type { Signal } from './contract.ts';

/** What came of one push. */
export type Outcome = 'accepted' | 'partial' | 'refused' | 'limited' | 'unavailable' | 'failed';

export interface IngestMetrics {
  took(signal: Signal, bytes: number, answer: PushAnswer): void;
  failed(signal: Signal, bytes: number, error: unknown): void;
  /** Turned away before its body was in memory. */
  limited(reason: 'bytes' | 'requests' | 'in_flight'): void;
  inFlight(bytes: number): void;
  pushed(signal: Signal, edgeId: string, atMs: number): void;
}

/** Edges that have a series of their own; there is a service for all the others. */
const mostEdges = 300;

export function ingestMetrics(metrics: Metrics): IngestMetrics {
  const requests = metrics.counter('requests_total', 'Pushes that came in, by what came of them.', ['signal', 'outcome']);
  const bytes = metrics.counter('bytes_total', 'Bytes of bodies as they were sent.', ['signal']);
  const accepted = metrics.counter('accepted_total', 'Samples, lines and spans that are stored.', ['signal']);
  const rejected = metrics.counter('rejected_total', 'Samples, lines and spans that a store refused for good.', ['signal']);
  const limited = metrics.counter('limited_total', 'Pushes turned away unread, by the limit they ran into.', ['reason']);
  const inFlight = metrics.gauge('in_flight_bytes', 'Bytes of bodies that are in memory.');
  const lastPush = metrics.gauge('last_push_timestamp_seconds', `When an edge was heard of last; the first ${mostEdges} edges.`, ['signal', 'edge_id']);
  const edges = new Set<string>();

  const ended = (signal: Signal, outcome: Outcome, size: number): void => {
    requests.add(1, { signal, outcome });
    bytes.add(size, { signal });
  };
  return {
    took(signal, size, answer) {
      ended(signal, answer.rejected > 0 ? 'partial' : 'accepted', size);
      accepted.add(answer.accepted, { signal });
      rejected.add(answer.rejected, { signal });
    },
    failed: (signal, size, error) => ended(signal, outcomeOf(error), size),
    limited: (reason) => limited.add(1, { reason }),
    inFlight: (size) => inFlight.set(size),
    pushed(signal, edgeId, atMs) {
      if (edges.has(edgeId) || edges.size < mostEdges) {
        edges.add(edgeId);
        lastPush.set(atMs / 1_000, { signal, edge_id: edgeId });
      }
    },
  };
}

function outcomeOf(error: unknown): Outcome {
  if (!isSvcError(error)) {
    return 'failed';
  }
  const outcomes: Readonly<Record<string, Outcome>> = {
    invalid_argument: 'refused',
    rate_limited: 'limited',
    unavailable: 'unavailable',
    upstream_error: 'unavailable',
  };
  return outcomes[error.code] ?? 'failed';
}
