import type { AuditNote, Call, PageRequest, Principal } from '../../sdk/index.ts';
import { requireMatch } from '../replies/etag.ts';
import { bindMethods } from './bound.ts';
import type { Exchange } from './exchange.ts';

const firstPage: PageRequest = Object.freeze({ limit: 50 });

const pipelineHeaders = new Set(['connection', 'content-length', 'date', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade', 'x-request-id']);

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
      throw new TypeError(`the header ${name} belongs to the pipeline and cannot be set by a handler`);
    }
    this.#exchange.setHeader(name, value);
  }

  setStatus(status: number): void {
    if (!Number.isInteger(status) || status < 200 || status > 399) {
      throw new RangeError(`a handler answers with a status from 200 to 399, not ${status}; throw an SvcError for the others`);
    }
    this.#exchange.status = status;
  }

  requireMatch(resource: { readonly updated_at: string }): void {
    requireMatch(this.#exchange.req.headers['if-match'], resource);
  }

  note(note: AuditNote): void {
    this.#exchange.note = { ...this.#exchange.note, ...note };
  }
}
