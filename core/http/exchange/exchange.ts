import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import { anonymous } from '../../auth/index.ts';
import type { Snapshot } from '../../registry/index.ts';
import {
  type AuditNote,
  type BodyQuota,
  type Credential,
  messageOf,
  type Principal,
} from '../../sdk/index.ts';
import { errors } from './errors.ts';
import type { Target } from './target.ts';
import type { Front } from './front.ts';
import type { ObservedRequest } from './ports.ts';
import type { Served, Wording } from '../routes/route-table.ts';

/** A connection that asks to become something else. */
export interface UpgradeRequest {
  readonly socket: Duplex;
  /** Bytes that the client sent after its request. */
  readonly head: Buffer;
  readonly isWebSocket: boolean;
  /** The subprotocols it offers. */
  readonly protocols: readonly string[];
}

/** Status counted if the client left before its answer. */
const clientGone = 499;

/** One request on its way through the pipeline; each stage leaves here what the next ones need. */
export class Exchange implements ObservedRequest {
  readonly front: Front;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  readonly startedAt: number;
  /** Present when the client asks for a WebSocket. */
  readonly upgrade: UpgradeRequest | undefined;
  snapshot: Snapshot | undefined;
  target: Target | undefined;
  served: Served | undefined;
  /** Wording of the path's protocol, also if no route was found. */
  wording: Wording;
  ip = '';
  credential: Credential | undefined;
  principal: Principal = anonymous;
  params: Record<string, unknown> = {};
  /** The body as it came, while it may still have to be compared with an earlier request's. */
  rawBody: Buffer | undefined;
  bodyRead = false;
  /** Quota of a body that its route admitted. */
  bodyQuota: BodyQuota | undefined;
  /** Set by the handler, in place of the route's. */
  status: number | undefined;
  note: AuditNote | undefined;
  /** The handler's own headers, name and value in turn. */
  headers: string[] | undefined;
  /** True once its caller was told that it failed, so nothing more may change on its account. */
  abandoned = false;
  /** True once its connection has become a socket, which outlives the request. */
  upgraded = false;
  #reported = false;
  #abort: AbortController | undefined;
  #retired: (() => void) | undefined;
  #gone: (() => void) | undefined;

  constructor(
    front: Front,
    req: IncomingMessage,
    res: ServerResponse,
    requestId: string,
    upgrade?: UpgradeRequest,
  ) {
    this.front = front;
    this.req = req;
    this.res = res;
    this.requestId = requestId;
    this.startedAt = front.clock.monotonic();
    this.upgrade = upgrade;
  }

  /** Name of the route for logs, metrics and strikes; never the path itself, which a client can invent. */
  get label(): string {
    return this.served?.route.key ?? 'unmatched';
  }

  get method(): string {
    return this.req.method ?? '';
  }

  get plugin(): string | undefined {
    return this.served?.route.owner.pluginId;
  }

  get traceparent(): string | undefined {
    const header = this.req.headers['traceparent'];
    return typeof header === 'string' ? header : undefined;
  }

  /** The client is no longer there to read an answer. */
  get gone(): boolean {
    return this.req.socket.destroyed;
  }

  /** Abort signal, made when it is first read: most handlers never do. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController();
      this.#abort = abort;
      const retirement = this.served?.route.owner.scope.signal;
      this.#retired = () => abort.abort(retirement?.reason);
      this.#gone = () => {
        abort.abort(errors.client_gone());
        retirement?.removeEventListener('abort', this.#retired!);
      };
      retirement?.addEventListener('abort', this.#retired);
      this.req.socket.once('close', this.#gone);
      if (retirement?.aborted) {
        this.#retired();
      } else if (this.gone) {
        this.#gone();
      }
    }
    return this.#abort.signal;
  }

  abort(reason: unknown): void {
    this.#abort?.abort(reason);
  }

  /** Returns a header that the handler has set, by its lower-case name. */
  header(name: string): string | undefined {
    return this.headers?.find((_, index, all) => index % 2 === 1 && all[index - 1] === name);
  }

  setHeader(name: string, value: string): void {
    const lower = name.toLowerCase();
    const headers = (this.headers ??= []);
    const at =
      lower === 'set-cookie'
        ? -1
        : headers.findIndex((known, index) => index % 2 === 0 && known === lower);
    if (at < 0) {
      headers.push(lower, value);
    } else {
      headers[at + 1] = value;
    }
  }

  /**
   * Leaves the snapshot: from here on this call sees each one as it comes, and holds only what it
   * needs.
   */
  leaveSnapshot(): void {
    if (this.snapshot) {
      this.front.registry.leases.unpin(this.snapshot);
      this.snapshot = undefined;
    }
  }

  /** Counts the call, once: when it ended, or when a stream began. */
  report(): void {
    if (!this.#reported) {
      this.#reported = true;
      const status = this.res.headersSent ? this.res.statusCode : (this.status ?? clientGone);
      this.front.observe?.(this.label, status, this.front.clock.monotonic() - this.startedAt, this);
    }
  }

  /** Releases everything this call listened to. */
  end(): void {
    const { bodyQuota } = this;
    this.bodyQuota = undefined;
    try {
      bodyQuota?.release();
    } catch (error) {
      this.front.log.warn(
        {
          event: 'http.quota_release_failed',
          request_id: this.requestId,
          route: this.label,
          cause: messageOf(error),
        },
        "failed to release a request's body quota; its plugin's usage may be overcounted",
      );
    }
    // The signal of a socket aborts when its connection closes.
    if (this.#abort && !this.upgraded) {
      this.served?.route.owner.scope.signal.removeEventListener('abort', this.#retired!);
      this.req.socket.removeListener('close', this.#gone!);
    }
  }
}
