import {
  type AuditNote,
  type Call,
  type PageRequest,
  type Principal,
  isSvcError,
  type MaybePromise,
  type Socket,
  type SvcError,
  withDeadline,
} from '../../sdk/index.ts';
import { requireRead } from '../access/authorize.ts';
import { requireMatch } from '../replies/etag.ts';
import { bindMethods } from './bound.ts';
import { errors } from './errors.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { withPin } from '../../registry/index.ts';
import { witnessed } from './audit.ts';
import type { Claim } from './idempotency.ts';
import type { CompiledRoute, Served } from '../routes/route-table.ts';

const firstPage: PageRequest = Object.freeze({ limit: 50 });

const pipelineHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
]);

/** A request as its handler sees it. */
export class HandlerCall implements Call {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly page: PageRequest;
  readonly #exchange: Exchange;

  static {
    bindMethods(HandlerCall.prototype);
  }

  constructor(exchange: Exchange, query: unknown, body: unknown, page: PageRequest = firstPage) {
    this.#exchange = exchange;
    this.params = exchange.params;
    this.query = query;
    this.body = body;
    this.page = page;
  }

  get principal(): Principal {
    return this.#exchange.principal;
  }

  get requestId(): string {
    return this.#exchange.requestId;
  }

  get ip(): string {
    return this.#exchange.ip;
  }

  get headers(): Readonly<Record<string, string | undefined>> {
    // Only set-cookie is ever a list, and no request has one.
    return this.#exchange.req.headers as Record<string, string | undefined>;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  get lastEventId(): string | undefined {
    const id = this.#exchange.req.headers['last-event-id'];
    return typeof id === 'string' && id !== '' && id.length <= 256 ? id : undefined;
  }

  setHeader(name: string, value: string): void {
    if (pipelineHeaders.has(name.toLowerCase())) {
      throw new TypeError(
        `the header ${name} belongs to the pipeline and cannot be set by a handler`,
      );
    }
    this.#exchange.setHeader(name, value);
  }

  setStatus(status: number): void {
    if (!Number.isInteger(status) || status < 200 || status > 399) {
      throw new RangeError(
        `a handler answers with a status from 200 to 399, not ${status}; throw an SvcError for the others`,
      );
    }
    this.#exchange.status = status;
  }

  requireMatch(resource: { readonly updated_at: string }): void {
    if (this.#exchange.served!.route.declaration.ifMatch !== true) {
      throw new TypeError(
        'the route does not declare ifMatch, so its document would not mention it',
      );
    }
    requireMatch(this.#exchange.req.headers['if-match'], resource);
  }

  requireRead(area: string): void {
    const { principal, served } = this.#exchange;
    if (served!.route.declaration.readsAsked?.includes(area) !== true) {
      throw new TypeError(
        `the route does not declare that it may read ${area}, so its document would not mention it`,
      );
    }
    requireRead(principal, area);
  }

  note(note: AuditNote): void {
    this.#exchange.note = { ...this.#exchange.note, ...note };
  }
}

/** Runs the handler, witnessed where its route is audited, on its plugin's account. A handler that answers at once costs no tick. */
export function runHandler(
  exchange: Exchange,
  served: Served,
  call: HandlerCall,
  claim?: Claim,
): MaybePromise<unknown> {
  return served.route.audited || claim
    ? witnessed(exchange, claim, () => onAccount(exchange, served, call))
    : onAccount(exchange, served, call);
}

function onAccount(
  exchange: Exchange,
  { route, pin }: Served,
  call: HandlerCall,
): MaybePromise<unknown> {
  const { declaration } = route;
  try {
    const answer: unknown = withPin(pin, () => declaration.handle(call, noSocket));
    if (!isThenable(answer)) {
      return answer;
    }
    return inTime(answer, declaration.timeoutMs ?? exchange.front.limits.handlerMs).catch(
      (error: unknown) => blame(exchange, route, error),
    );
  } catch (error) {
    return blame(exchange, route, error);
  }
}

/** An error of the table is an answer; anything else, and silence, is the plugin's fault unless its client left it. */
function blame({ front, gone }: Exchange, { owner, key }: CompiledRoute, error: unknown): never {
  const isLate = isSvcError(error) && error.reason === errors.handler_late.reason;
  if (isLate || (!isSvcError(error) && !gone)) {
    front.strike(owner, key, error);
  }
  throw error;
}

const inTime = (answer: PromiseLike<unknown>, ms: number): Promise<unknown> =>
  withDeadline(answer, ms, () => Promise.reject(late(ms)), { idle: true });

const late = (ms: number): SvcError =>
  errors.handler_late({ seconds: ms / 1000 }, { retryAfterSeconds: 5 });

/** Placeholder socket: only socket routes get a live one, and they do not run here. */
const noSocket = undefined as unknown as Socket;

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { then?: unknown }).then === 'function';
