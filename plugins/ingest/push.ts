import type { Signal } from 'svc/contracts/ingest';
import type { PushAnswer, PushStore, Stamp } from 'svc/contracts/metricsdb';
import { type Call, type Clock, type Handle, type Principal, withDeadline } from 'svc/sdk';

import type { Activity } from './activity.ts';
import { errors } from './errors.ts';
import type { IngestMetrics } from './ingest-metrics.ts';

/** Push from any route. */
export type PushCall = Pick<
  Call<unknown, unknown, Uint8Array>,
  'principal' | 'headers' | 'body' | 'signal' | 'setHeader'
>;

export interface Push<F extends string> {
  readonly signal: Signal;
  readonly store: Handle<PushStore<F>>;
  readonly format: F;
  /** Encoding as the store names it. */
  readonly encoding: string | undefined;
}

/** Shorter than a handler may take: a store that hangs is no fault of this plugin. */
const storeMs = 45_000;

/** Passes one body on to its store; resolves when everything accepted is on disk. */
export type Pusher = <F extends string>(call: PushCall, push: Push<F>) => Promise<PushAnswer>;

export function createPusher({
  metrics,
  activity,
  clock,
}: {
  readonly metrics: IngestMetrics;
  readonly activity: Activity;
  readonly clock: Clock;
}): Pusher {
  return async (call, { signal, store, format, encoding }) => {
    const { body, principal } = call;
    const size = body.length;
    try {
      const options = {
        stamp: stampOf(principal, signal),
        sender: senderOf(principal),
        given: true,
        // A signal costs something, so it is made for stores that look at it.
        get signal() {
          return call.signal;
        },
        ...(encoding !== undefined && { encoding }),
      };
      const answer = await withDeadline(store.get().push(format, body, options), storeMs, () =>
        Promise.reject(
          errors.store_silent({ signal, seconds: storeMs / 1_000 }, { retryAfterSeconds: 10 }),
        ),
      );
      metrics.stored(signal, size, answer);
      if (principal.kind === 'edge') {
        const now = clock.now();
        activity.note(principal.id, signal, now);
        metrics.pushed(signal, principal.id, now);
      }
      return answer;
    } catch (error) {
      metrics.failed(signal, size, error);
      throw error;
    }
  };
}

/**
 * Returns the stamp of a push. Only an edge speaks for a device. About any other sender nothing is
 * known, and its claims are removed: an empty stamp tells the stores of metrics and logs so; that
 * of traces never trusts a sender.
 */
function stampOf({ kind, id, device }: Principal, signal: Signal): Stamp {
  const [edge_id, device_id] = kind === 'edge' ? [id, device] : [undefined, undefined];
  if (signal === 'traces') {
    return {
      ...(edge_id !== undefined && { edge_id }),
      ...(device_id !== undefined && { device_id }),
    };
  }
  return { edge_id: edge_id ?? '', device_id: device_id ?? '' };
}

/** Names the sender of a push: an agent, a token and its owner, or an account. */
function senderOf({ kind, id, email, session = '' }: Principal): string {
  // Not by the display name: two people may have the same one, and change it.
  const owner = email ?? id;
  switch (kind) {
    case 'edge':
      return `agent ${id}`;
    case 'token':
      return `${session.replace('-', ' ')} of ${owner}`;
    default:
      return `${kind} ${owner}`;
  }
}

export function demandBody({ body }: PushCall): void {
  if (body.length === 0) {
    throw errors.no_body();
  }
}
