import { type IncomingMessage, request } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { bootSettings, type Environment, runningHouse } from '../../core/boot/index.ts';
import { type ErrorCode, messageOf } from '../../core/sdk/index.ts';
import { currentProduct } from '../product.ts';
import { Failure, unreachable } from './failure.ts';

/** The running house on this machine, spoken to over its own API with the operator's token. */
export interface HouseClient {
  /** `withinMs` for what takes longer than an answer usually may. */
  get<T>(path: string, withinMs?: number): Promise<T>;
  /** Every item of a list, page after page. */
  list<T>(path: string): Promise<readonly T[]>;
  /** Asks for a change; the house itself bounds how long that may take. */
  post<T>(path: string): Promise<T>;
  /** The bytes of a file that the house makes while they are read. */
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

export async function openHouseClient(environment: Environment): Promise<HouseClient> {
  const { dataDir } = bootSettings(await currentProduct(), environment);
  const house = runningHouse(dataDir);
  if (!house) {
    throw unreachable(`no svc serves the data folder ${dataDir}: start it with "svc serve", or name another folder with --data`);
  }
  return clientOf(house);
}

export function clientOf({ url, token }: { readonly url: string; readonly token: string }): HouseClient {
  const reach = async (method: 'GET' | 'POST', path: string, withinMs: number): Promise<IncomingMessage> => {
    const response = await answer(new URL(path, url), method, token, withinMs).catch((cause: unknown) => {
      throw unreachable(`svc at ${url} does not answer (${reasonOf(cause)}): see whether it still runs with "svc doctor"`, cause);
    });
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) {
      throw refusal(status, await documentOf(response, url));
    }
    return response;
  };
  const ask = async <T>(method: 'GET' | 'POST', path: string, withinMs: number): Promise<T> =>
    (await documentOf(await reach(method, path, withinMs), url)) as T;
  const get = <T>(path: string, withinMs = answerWithinMs): Promise<T> => ask<T>('GET', path, withinMs);
  return {
    get,
    async list<T>(path: string) {
      const items: T[] = [];
      let page: Page<T> | undefined;
      do {
        page = await get<Page<T>>(`${path}?limit=200${page ? `&cursor=${encodeURIComponent(page.next_cursor)}` : ''}`);
        items.push(...page.items);
        // A page without items has nothing behind it, whatever its cursor says: the walk must end.
      } while (page.next_cursor !== '' && page.items.length > 0);
      return items;
    },
    post: (path) => ask('POST', path, changeWithinMs),
    download: (path) => reach('GET', path, downloadWithinMs),
  };
}

/** Not fetch: that refuses to speak to a list of ports on which svc may well be told to listen. */
function answer(url: URL, method: string, token: string, withinMs: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const call = request(url, { method, headers, agent: false, signal: AbortSignal.timeout(withinMs) }, resolve);
    call.once('error', reject);
    call.end();
  });
}

async function documentOf(response: IncomingMessage, url: string): Promise<unknown> {
  const body = await text(response).catch((cause: unknown) => {
    throw unreachable(`svc at ${url} broke off its answer (${reasonOf(cause)}): try again`, cause);
  });
  try {
    return JSON.parse(body) as unknown;
  } catch (cause) {
    throw unreachable(`what answers at ${url} is not svc: another program has taken its port; see "svc doctor"`, cause);
  }
}

function refusal(status: number, body: unknown): Failure {
  const { error = 'internal', message, details } = (body ?? {}) as { error?: ErrorCode; message?: string; details?: unknown };
  return new Failure(status < 500 ? 4 : 1, error, message ?? `svc answered with status ${status}`, { details });
}

function reasonOf(error: unknown): string {
  const { code, name } = error as { code?: string; name?: string };
  return name === 'AbortError' || name === 'TimeoutError' ? 'no answer in time' : (code ?? messageOf(error));
}
