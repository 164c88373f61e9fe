import type { Signal } from 'svc/contracts/ingest';
import type { PushAnswer } from 'svc/contracts/metricsdb';
import { isSvcError, type Metrics } from 'svc/sdk';

/** Outcome of one push. */
type Outcome = 'accepted' | 'partial' | 'refused' | 'limited' | 'unavailable' | 'failed';

/** Edges that have a series of their own; there is a service for all the others. */
const maxEdges = 300;

type Counter = ReturnType<Metrics['counter']>;
type Gauge = ReturnType<Metrics['gauge']>;

export class IngestMetrics {
  readonly #requests: Counter;
  readonly #bytes: Counter;
  readonly #accepted: Counter;
  readonly #rejected: Counter;
  readonly #limited: Counter;
  readonly #inFlight: Gauge;
  readonly #lastPush: Gauge;
  readonly #edges = new Set<string>();

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter('requests_total', 'Pushes received, by result.', [
      'signal',
      'outcome',
    ]);
    this.#bytes = metrics.counter('bytes_total', 'Bytes of bodies as they were sent.', ['signal']);
    this.#accepted = metrics.counter(
      'accepted_total',
      'Samples, lines and spans that are stored.',
      ['signal'],
    );
    this.#rejected = metrics.counter(
      'rejected_total',
      'Samples, lines and spans that a store refused for good.',
      ['signal'],
    );
    this.#limited = metrics.counter(
      'limited_total',
      'Pushes refused unread, by the limit that they exceeded.',
      ['reason'],
    );
    this.#inFlight = metrics.gauge('in_flight_bytes', 'Bytes of bodies that are in memory.');
    this.#lastPush = metrics.gauge(
      'last_push_timestamp_seconds',
      `When an edge was heard of last; the first ${maxEdges} edges.`,
      ['signal', 'edge_id'],
    );
  }

  stored(signal: Signal, bytes: number, { accepted, rejected }: PushAnswer): void {
    this.#ended(signal, rejected > 0 ? 'partial' : 'accepted', bytes);
    this.#accepted.add(accepted, { signal });
    this.#rejected.add(rejected, { signal });
  }

  failed(signal: Signal, bytes: number, error: unknown): void {
    this.#ended(signal, outcomeOf(error), bytes);
  }

  /** Turned away before its body was in memory. */
  limited(reason: 'bytes' | 'requests' | 'in_flight'): void {
    this.#limited.add(1, { reason });
  }

  inFlight(bytes: number): void {
    this.#inFlight.set(bytes);
  }

  pushed(signal: Signal, edgeId: string, atMs: number): void {
    if (this.#edges.has(edgeId) || this.#edges.size < maxEdges) {
      this.#edges.add(edgeId);
      this.#lastPush.set(atMs / 1_000, { signal, edge_id: edgeId });
    }
  }

  #ended(signal: Signal, outcome: Outcome, bytes: number): void {
    this.#requests.add(1, { signal, outcome });
    this.#bytes.add(bytes, { signal });
  }
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
