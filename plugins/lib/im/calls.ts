import {
  type Clock,
  isSvcError,
  messageOf,
  type OutboundReply,
  type OutboundRequest,
} from 'svc/sdk';

import { jsonObject } from './text.ts';

/** A file, or why there is none. */
type ImFetched =
  | { readonly result: 'file'; readonly bytes: Uint8Array }
  | { readonly result: 'retry' | 'failed'; readonly reason: string };

export interface CallPorts {
  readonly fetch: (url: string, request?: OutboundRequest) => Promise<OutboundReply>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Refusal by a platform. `retry`: it may succeed later, no sooner than `after_ms` if the platform
 * says so.
 */
export interface CallRefusal {
  readonly result: 'retry' | 'failed';
  readonly reason: string;
  readonly after_ms?: number;
  /** Code of the platform, as it wrote it. */
  readonly code: string;
  /** The request may have been carried out all the same. */
  readonly unclear: boolean;
}

export type CallAnswer =
  | { readonly result: 'ok'; readonly body: Readonly<Record<string, unknown>> }
  | CallRefusal;

export interface CallRequest extends Pick<OutboundRequest, 'method' | 'headers' | 'signal'> {
  readonly url: string;
  readonly json?: object;
  /** Body that is no JSON. */
  readonly content?: { readonly type: string; readonly bytes: Uint8Array };
  readonly timeoutMs?: number;
  /** Undefined: it is what was asked for. Else the code and words of the platform, and whether another try may fare better. */
  readonly judge: (
    body: Readonly<Record<string, unknown>>,
    status: number,
  ) =>
    | undefined
    | {
        readonly code: string;
        readonly words: string;
        readonly again?: boolean;
        readonly after_ms?: number;
      };
}

const maxReplyBytes = 1024 * 1024;
const downloadMs = 30_000;
const longestReason = 200;
const longestWaitMs = 3_600_000;
const neverArrived = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

export type FetchedToken = { readonly token: string; readonly lives_ms: number };

/** Source of the access tokens of an app. */
export interface TokenSource {
  /** One token each; as much of the app as decides which. */
  readonly key: string;
  readonly fetchToken: () => Promise<FetchedToken | CallRefusal>;
  /** Returns whether a code of the platform says that the token has expired. */
  readonly isExpired: (code: string) => boolean;
}

interface KeptToken {
  readonly token: Promise<{ readonly token: string; readonly until: number } | CallRefusal>;
  until: number;
}

/** Calls of one plugin to the API of its platform. */
export class Calls {
  readonly #ports: CallPorts;
  readonly #tokens = new Map<string, KeptToken>();

  constructor(ports: CallPorts) {
    this.#ports = ports;
  }

  /** One call; never throws. */
  async call({
    url,
    json,
    content,
    judge,
    timeoutMs = 10_000,
    method = 'POST',
    headers = {},
    signal,
  }: CallRequest): Promise<CallAnswer> {
    let reply: OutboundReply;
    try {
      const body = json === undefined ? { body: content?.bytes } : { body: JSON.stringify(json) };
      reply = await this.#ports.fetch(url, {
        method,
        timeoutMs,
        maxBytes: maxReplyBytes,
        ...body,
        ...(signal !== undefined && { signal }),
        headers: {
          ...(json !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
          ...(content !== undefined && { 'content-type': content.type }),
          ...headers,
        },
      });
    } catch (error) {
      return refusalOf(error);
    }
    const body = jsonObject(reply.body);
    const objection = judge(body, reply.status);
    if (objection === undefined && reply.status >= 200 && reply.status < 300) {
      return { result: 'ok', body };
    }
    const { code = String(reply.status), words = '', again, after_ms: asked } = objection ?? {};
    const isPassing =
      again ??
      (reply.status === 429 ||
        reply.status === 408 ||
        reply.status >= 500 ||
        (reply.status < 400 && Object.keys(body).length === 0));
    const after = asked ?? retryAfterMs(reply.headers['retry-after'], this.#ports.clock.now());
    return {
      result: isPassing ? 'retry' : 'failed',
      reason:
        `the platform answered ${code}${words === '' ? '' : `: ${words.replaceAll(/\p{Cc}+/gu, ' ')}`}`.slice(
          0,
          longestReason,
        ),
      code,
      unclear: reply.status >= 500 || (isPassing && reply.status < 400 && objection === undefined),
      ...(after !== undefined && {
        after_ms: Math.min(Math.max(0, Math.ceil(after)), longestWaitMs),
      }),
    };
  }

  /** Fetches a file of at most so many bytes; never throws. Anything that is no file of a platform, such as its page to sign in at, is refused. */
  async download({
    url,
    headers = {},
    maxBytes,
    mayBePage,
  }: {
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly maxBytes: number;
    readonly mayBePage: boolean;
  }): Promise<ImFetched> {
    let reply: OutboundReply;
    try {
      reply = await this.#ports.fetch(url, { headers, maxBytes, timeoutMs: downloadMs });
    } catch (error) {
      const isTooLarge = isSvcError(error) && error.reason === 'outbound.reply_too_large';
      const { result, reason } = refusalOf(error);
      return { result: isTooLarge ? 'failed' : result, reason };
    }
    const type = reply.headers['content-type'] ?? '';
    if (reply.status === 200 && (mayBePage || !type.startsWith('text/html'))) {
      return { result: 'file', bytes: reply.body };
    }
    const mayPass = reply.status === 429 || reply.status >= 500;
    return {
      result: mayPass ? 'retry' : 'failed',
      reason: `the platform answered ${reply.status}${type === '' ? '' : ` (${type.slice(0, 60)})`}`,
    };
  }

  /** An access token, fetched once however many ask, and again a minute before it ends. */
  async #token(
    key: string,
    fetchToken: TokenSource['fetchToken'],
  ): Promise<{ readonly token: string } | CallRefusal> {
    const { clock } = this.#ports;
    const kept = this.#tokens.get(key);
    if (kept !== undefined && kept.until > clock.now()) {
      return await kept.token;
    }
    const fresh: KeptToken = {
      until: Number.POSITIVE_INFINITY,
      token: fetchToken().then((answer) => {
        if ('token' in answer) {
          fresh.until = clock.now() + Math.max(0, answer.lives_ms - 60_000);
          return { token: answer.token, until: fresh.until };
        }
        this.#tokens.delete(key);
        return answer;
      }),
    };
    this.#tokens.set(key, fresh);
    return await fresh.token;
  }

  /** Fetches a file under an access token. */
  async downloadAs(
    { key, fetchToken }: Pick<TokenSource, 'key' | 'fetchToken'>,
    requestOf: (token: string) => Parameters<Calls['download']>[0],
  ): Promise<ImFetched> {
    const token = await this.#token(key, fetchToken);
    return 'result' in token
      ? { result: token.result, reason: token.reason }
      : await this.download(requestOf(token.token));
  }

  /** Calls under an access token, and once more under a new one if that token has expired. */
  async callAs(
    { key, fetchToken, isExpired }: TokenSource,
    requestOf: (token: string) => CallRequest,
  ): Promise<CallAnswer> {
    for (let isRepeat = false; ; isRepeat = true) {
      const token = await this.#token(key, fetchToken);
      if ('result' in token) {
        return token;
      }
      const answer = await this.call(requestOf(token.token));
      if (answer.result === 'ok' || isRepeat || !isExpired(answer.code)) {
        return answer;
      }
      this.#tokens.delete(key);
    }
  }
}

/** Returns the outcome of a message that the platform has refused. */
export const notSent = (answer: CallRefusal) =>
  answer.result === 'retry'
    ? { ...answer, result: 'retry' as const }
    : { result: 'failed' as const, reason: answer.reason };

function refusalOf(error: unknown): CallRefusal {
  const cause = isSvcError(error)
    ? String((error.cause as { code?: unknown } | undefined)?.code)
    : '';
  const isForGood =
    !isSvcError(error) || error.code === 'invalid_argument' || error.code === 'forbidden';
  return {
    result: isForGood ? 'failed' : 'retry',
    reason: messageOf(error).slice(0, longestReason),
    code: 'unreachable',
    unclear: !isForGood && !neverArrived.has(cause),
  };
}

/** Parses seconds or a date. */
function retryAfterMs(text: string | undefined, now: number): number | undefined {
  if (text === undefined || text.trim() === '') {
    return undefined;
  }
  const ms = /^\d{1,9}(?:\.\d+)?$/.test(text.trim())
    ? Number(text) * 1_000
    : Date.parse(text) - now;
  return Number.isFinite(ms) ? ms : undefined;
}
