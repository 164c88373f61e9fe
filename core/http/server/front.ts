import type { Socket } from 'node:net';

import { type ClientAddress, clientAddress } from '../../auth/index.ts';
import { SvcError } from '../../sdk/index.ts';
import { KeepAlive } from '../streams/keep-alive.ts';
import { defaultLimits, type HttpLimits, type HttpOptions } from '../ports.ts';
import { type RefusalBudget, refusalBudget } from './refusal-budget.ts';

/** Something that lives longer than a request and is told when the house closes. */
export interface Guest {
  leave(): void;
  /** When it has not left in time. */
  cut(): void;
}

/** What all requests of one server share. */
export interface Front extends Omit<HttpOptions, 'limits' | 'trustedProxies' | 'publicUrl'> {
  readonly limits: HttpLimits;
  readonly addresses: ClientAddress;
  /** Where our own pages come from, when the operator said so. */
  readonly ownOrigin: string | undefined;
  /** Open event streams by principal. */
  readonly streams: Map<string, number>;
  /** Idempotency keys whose first request still runs. */
  readonly claims: Set<string>;
  /** Pings the clients of sockets. */
  readonly keepAlive: KeepAlive;
  /** Open streams and sockets. */
  readonly guests: Set<Guest>;
  readonly connections: Set<Socket>;
  /** Connections that count towards the bound of their address, each with how it leaves the count: a fleet behind one address keeps its sockets open. */
  readonly counted: WeakMap<Socket, () => void>;
  /** Requests that are not answered yet. */
  open: number;
  /** Audit rows of refusals on their way to the disk. */
  refusals: number;
  readonly mayWriteRefusal: RefusalBudget;
  /** Refusals beyond that, which the next row tells of. */
  unwrittenRefusals: number;
  /** From the beginning of the shutdown on. */
  closing: boolean;
}

export function openFront({ limits, trustedProxies, publicUrl, ...options }: HttpOptions): Front {
  if (options.cursorKey.symmetricKeySize !== 32) {
    throw new SvcError('invalid_argument', 'the key that seals cursors must have 32 bytes');
  }
  const allLimits = { ...defaultLimits, ...limits };
  return {
    ...options,
    limits: allLimits,
    keepAlive: new KeepAlive(allLimits.pingMs),
    addresses: clientAddress(trustedProxies ?? []),
    ownOrigin: originOf(publicUrl),
    streams: new Map(),
    claims: new Set(),
    guests: new Set(),
    connections: new Set(),
    counted: new WeakMap(),
    open: 0,
    refusals: 0,
    mayWriteRefusal: refusalBudget(options.clock),
    unwrittenRefusals: 0,
    closing: false,
  };
}

/** Unset and empty both mean: whatever the request's Host header says. */
function originOf(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined || publicUrl === '') {
    return undefined;
  }
  if (!URL.canParse(publicUrl)) {
    throw new SvcError('invalid_argument', `SVC_PUBLIC_URL is "${publicUrl}", which is not an address; write it like https://ops.example.com`);
  }
  return new URL(publicUrl).origin;
}
