import { type ClientAddress, clientAddress } from '../auth/index.ts';
import { SvcError } from '../sdk/index.ts';
import { defaultLimits, type HttpLimits, type HttpOptions } from './ports.ts';

/** Something that lives longer than a request and is told when the house closes. */
export interface Guest {
  leave(): void;
  /** When it has not left in time. */
  cut(): void;
}

/** What all requests of one server share. */
export interface Front extends Omit<HttpOptions, 'limits' | 'trustedProxies'> {
  readonly limits: HttpLimits;
  readonly addresses: ClientAddress;
  /** Open event streams by principal. */
  readonly streams: Map<string, number>;
  /** Idempotency keys whose first request still runs. */
  readonly claims: Set<string>;
  /** Open streams and sockets. */
  readonly guests: Set<Guest>;
  /** Requests that are not answered yet. */
  open: number;
  /** Audit rows of refusals on their way to the disk. */
  refusals: number;
  /** From the beginning of the shutdown on. */
  closing: boolean;
}

export function openFront({ limits, trustedProxies, ...options }: HttpOptions): Front {
  if (options.cursorKey.symmetricKeySize !== 32) {
    throw new SvcError('invalid_argument', 'the key that seals cursors must have 32 bytes');
  }
  return {
    ...options,
    limits: { ...defaultLimits, ...limits },
    addresses: clientAddress(trustedProxies ?? []),
    streams: new Map(),
    claims: new Set(),
    guests: new Set(),
    open: 0,
    refusals: 0,
    closing: false,
  };
}
