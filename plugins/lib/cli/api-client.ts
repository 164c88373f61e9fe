import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { type ErrorCode, messageOf } from 'svc/sdk';
import { Failure, unreachable } from './failure.ts';

/** A running svc, spoken to over its own API. */
export interface ApiClient {
  /** `withinMs` for what takes longer than an answer usually may. */
  get<T>(path: string, withinMs?: number): Promise<T>;
  /** Every item of a list, page after page. */
  list<T>(path: string): Promise<readonly T[]>;
  /** Asks for a change; svc itself bounds how long that may take. */
  post<T>(path: string, body?: object, withinMs?: number): Promise<T>;
  put<T>(path: string, body: object): Promise<T>;
  patch<T>(path: string, body: object): Promise<T>;
  delete(path: string): Promise<void>;
  /** The bytes of a file that svc makes while they are read. */
  download(path: string): Promise<Readable>;
}

interface Page<T> {
  readonly items: readonly T[];
  /** Empty on the last page. */
  readonly next_cursor: string;
}

const answerWithinMs = 15_000;
/** A little more than the server's own deadline for these routes, so that its answer comes first. */
const changeWithinMs = 160_000;
const downloadWithinMs = 3_600_000;

/** Address of a svc, and who asks there. */
export interface Reachable {
  readonly url: string;
  /** Absent for what everybody may ask, such as to be let in. */
  readonly token?: string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Speaks to a svc; `program` is what the svc there sees as its user agent. */
export function clientOf({ url, token }: Reachable, program: string): ApiClient {
  const reach = async (
    method: Method,
    path: string,
    withinMs: number,
    body?: object,
  ): Promise<IncomingMessage> => {
    const response = await answer(new URL(path, url), {
      method,
      token,
      program,
      withinMs,
      body,
    }).catch((cause: unknown) => {
      throw unreachable(
        `svc at ${url} does not answer (${reasonOf(cause)}): ${adviceOn(cause)}`,
        cause,
      );
    });
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) {
      throw refusal(status, await documentOf(response, url));
    }
    return response;
  };
  const ask = async <T>(
    method: Method,
    path: string,
    withinMs: number,
    body?: object,
  ): Promise<T> => (await documentOf(await reach(method, path, withinMs, body), url)) as T;
  const get = <T>(path: string, withinMs = answerWithinMs): Promise<T> =>
    ask<T>('GET', path, withinMs);
  return {
    get,
    async list<T>(path: string) {
      const items: T[] = [];
      const first = `${path}${path.includes('?') ? '&' : '?'}limit=200`;
      let page: Page<T> | undefined;
      do {
        page = await get<Page<T>>(
          `${first}${page ? `&cursor=${encodeURIComponent(page.next_cursor)}` : ''}`,
        );
        items.push(...page.items);
        // A page without items has nothing behind it, whatever its cursor says: the walk must end.
      } while (page.next_cursor !== '' && page.items.length > 0);
      return items;
    },
    post: (path, body, withinMs = changeWithinMs) => ask('POST', path, withinMs, body),
    put: (path, body) => ask('PUT', path, changeWithinMs, body),
    patch: (path, body) => ask('PATCH', path, changeWithinMs, body),
    delete: (path) => ask('DELETE', path, changeWithinMs),
    download: (path) => reach('GET', path, downloadWithinMs),
  };
}

interface Question {
  readonly method: Method;
  readonly token: string | undefined;
  readonly program: string;
  readonly withinMs: number;
  readonly body: object | undefined;
}

/** Sends a request. Not by fetch, which refuses a list of ports on which svc may well listen. */
function answer(
  url: URL,
  { method, token, program, withinMs, body }: Question,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? tlsRequest : plainRequest;
    const headers = {
      accept: 'application/json',
      'user-agent': program,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const call = request(
      url,
      { method, headers, agent: false, signal: AbortSignal.timeout(withinMs) },
      resolve,
    );
    call.once('error', reject);
    call.end(body && JSON.stringify(body));
  });
}

async function documentOf(response: IncomingMessage, url: string): Promise<unknown> {
  const body = await text(response).catch((cause: unknown) => {
    throw unreachable(
      `svc at ${url} closed the connection before its answer was complete (${reasonOf(cause)}): try again`,
      cause,
    );
  });
  if (response.statusCode === 204) {
    return undefined;
  }
  try {
    return JSON.parse(body) as unknown;
  } catch (cause) {
    throw unreachable(
      `${url} is not svc: another program is using its port; see "svc doctor"`,
      cause,
    );
  }
}

function refusal(status: number, body: unknown): Failure {
  const {
    error = 'internal',
    message,
    details,
  } = (body ?? {}) as { error?: ErrorCode; message?: string; details?: unknown };
  return new Failure(status < 500 ? 4 : 1, error, message ?? `svc answered with status ${status}`, {
    details,
  });
}

function reasonOf(error: unknown): string {
  const { code, name } = error as { code?: string; name?: string };
  return name === 'AbortError' || name === 'TimeoutError'
    ? 'timed out'
    : (code ?? messageOf(error));
}

function adviceOn(error: unknown): string {
  const { code = '' } = error as { code?: string };
  return /CERT|ISSUER|ERR_TLS/.test(code)
    ? 'if you trust it, pass its certificate in NODE_EXTRA_CA_CERTS'
    : 'check with "svc doctor" whether it is running';
}
