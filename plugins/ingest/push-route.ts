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

/** Longer than a store takes at most, so that its own words are heard. */
const timeoutMs = 60_000;

/** What all ways in have in common: who may, how much, and that a push is counted instead of audited. */
export const pushRoute = (gate: PushGate, route: PushRoute): RouteDeclaration =>
  byteRoute({
    ...route,
    method: 'POST',
    access: { action: 'ingest:push', machine: true },
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
