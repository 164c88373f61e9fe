import {
  byteRoute,
  type ErrorWording,
  type RequestHeaders,
  type RouteDeclaration,
  type ShownError,
} from 'svc/sdk';

import { maxBodyBytes } from './limits.ts';
import type { PushCall } from './push.ts';
import type { PushGate } from './push-gate.ts';

export interface PushRoute {
  readonly path: string;
  readonly summary: string;
  readonly consumes: readonly string[];
  readonly produces: string;
  readonly wording: (error: ShownError, headers: RequestHeaders) => ErrorWording;
  /** Answers with a body, or with nothing: 204. */
  readonly handle: (call: PushCall) => Promise<string | Uint8Array | void>;
}

/** Time limit, longer than that of any store, so that the store's own error arrives. */
const timeoutMs = 60_000;

/**
 * Builds a push route with what all of them share: permissions, limits, and counting pushes instead
 * of auditing them.
 */
export const pushRoute = (gate: PushGate, route: PushRoute): RouteDeclaration =>
  byteRoute({
    ...route,
    method: 'POST',
    access: { action: 'ingest:push', machine: true },
    reads: 'none',
    maxBodyBytes,
    timeoutMs,
    audited: false,
    admit: (arrival) => gate.enter(arrival),
    errors: ['rate_limited', 'unavailable', 422],
  });

export const plainWording = ({ message }: ShownError): ErrorWording => ({
  type: 'text/plain; charset=utf-8',
  body: `${message}\n`,
});
