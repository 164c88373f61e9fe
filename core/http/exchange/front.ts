import type { Socket } from 'node:net';

import { ClientAddress } from '../../auth/index.ts';
import { type Clock } from '../../sdk/index.ts';
import { errors } from './errors.ts';
import { KeepAlive } from './keep-alive.ts';
import { defaultLimits, type HttpLimits, type HttpOptions } from './ports.ts';

/** A stream or socket, which lives longer than its request: stopped when the server closes, terminated when it has not ended in time. */
export interface LongAnswer {
  stop(): void;
  terminate(): void;
}

const budgetWindowMs = 60_000;
const maxSources = 10_000;
const rowsOfStrangers = 60;
const rowsOfKnown = 600;

/**
 * Limit of refusals of one source that are recorded per minute; further ones are counted, so that
 * no caller can fill the trail.
 */
class RefusalBudget {
  readonly #clock: Clock;
  #counts = new Map<string, number>();
  #began: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  spend({
    ip,
    principal,
  }: {
    readonly ip: string;
    readonly principal: string | undefined;
  }): boolean {
    if (this.#clock.monotonic() - this.#began >= budgetWindowMs) {
      this.#counts = new Map();
      this.#began = this.#clock.monotonic();
    }
    const source = principal ?? networkOf(ip);
    const count = (this.#counts.get(source) ?? 0) + 1;
    if (count === 1 && this.#counts.size >= maxSources) {
      return false;
    }
    this.#counts.set(source, count);
    return count <= (principal === undefined ? rowsOfStrangers : rowsOfKnown);
  }
}

/** A host with one IPv6 address has a whole network of them. */
const networkOf = (ip: string): string =>
  ip.includes(':') ? ip.split(':').slice(0, 4).join(':') : ip;

/** State shared by all requests of one server. */
export interface Front extends Omit<HttpOptions, 'limits' | 'trustedProxies' | 'publicUrl'> {
  readonly limits: HttpLimits;
  readonly addresses: ClientAddress;
  /** Origin of our own pages, if the operator configured it. */
  readonly ownOrigin: string | undefined;
  /** Open event streams by principal. */
  readonly streams: Map<string, number>;
  /** Idempotency keys whose first request still runs. */
  readonly claims: Set<string>;
  /** Pings the clients of sockets. */
  readonly keepAlive: KeepAlive;
  /** Open streams and sockets. */
  readonly longAnswers: Set<LongAnswer>;
  /** Each with the bytes that it had brought when its last request was answered. */
  readonly connections: Map<Socket, number>;
  /** Connections that count towards the bound of their address, each with how it leaves the count: a fleet behind one address keeps its sockets open. */
  readonly counted: WeakMap<Socket, () => void>;
  readonly crowded: WeakSet<Socket>;
  /** The last such line of the log, and what came after it: a storm is a line a second. */
  readonly unserved: { at: number; since: number };
  /**
   * Doors at which an address, or everyone, was just refused: until when further ones get the same
   * answer, and how many seconds to wait.
   */
  readonly held: Map<string, { readonly until: number; readonly seconds: number }>;
  /** Requests that are not answered yet. */
  open: number;
  /** Audit rows of refusals on their way to the disk. */
  refusals: number;
  readonly refusalBudget: RefusalBudget;
  /** Refusals beyond that, which the next row counts. */
  unwrittenRefusals: number;
  /** True from the beginning of the shutdown. */
  closing: boolean;
}

export function openFront({ limits, trustedProxies, publicUrl, ...options }: HttpOptions): Front {
  if (options.cursorKey.symmetricKeySize !== 32) {
    throw errors.cursor_key();
  }
  const allLimits = { ...defaultLimits, ...limits };
  return {
    ...options,
    limits: allLimits,
    keepAlive: new KeepAlive(allLimits.pingMs),
    addresses: new ClientAddress(trustedProxies ?? []),
    ownOrigin: originOf(publicUrl),
    streams: new Map(),
    claims: new Set(),
    longAnswers: new Set(),
    connections: new Map(),
    counted: new WeakMap(),
    crowded: new WeakSet(),
    unserved: { at: -Infinity, since: 0 },
    held: new Map(),
    open: 0,
    refusals: 0,
    refusalBudget: new RefusalBudget(options.clock),
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
    throw errors.public_url({ address: publicUrl });
  }
  return new URL(publicUrl).origin;
}
