import type { IngestActivityContract, LastPushes, Signal } from 'svc/contracts/ingest';

/** Max edges stored; the one that was idle longest is dropped. */
const maxEdges = 10_000;
const nothing: LastPushes = Object.freeze({});

/** Times of the last push of each edge. */
export class Activity implements IngestActivityContract {
  readonly #edges = new Map<string, Partial<Record<Signal, number>>>();

  note(edgeId: string, signal: Signal, atMs: number): void {
    const pushes = this.#edges.get(edgeId) ?? {};
    pushes[signal] = atMs;
    this.#edges.delete(edgeId);
    if (this.#edges.size >= maxEdges) {
      this.#edges.delete(this.#edges.keys().next().value!);
    }
    this.#edges.set(edgeId, pushes);
  }

  lastPushes(edgeId: string): LastPushes {
    return { ...(this.#edges.get(edgeId) ?? nothing) };
  }
}
