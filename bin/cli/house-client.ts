import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

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
  const reach = async (method: 'GET' | 'POST', path: string, timeoutMs: number): Promise<Response> => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((cause: unknown) => {
      throw unreachable(`svc at ${url} does not answer (${reasonOf(cause)}): see whether it still runs with "svc doctor"`, cause);
    });
    if (!response.ok) {
      throw refusal(response.status, await bodyOf(response, url));
    }
    return response;
  };
  const ask = async <T>(method: 'GET' | 'POST', path: string, timeoutMs: number): Promise<T> => (await bodyOf(await reach(method, path, timeoutMs), url)) as T;
  const get = <T>(path: string, withinMs = answerWithinMs): Promise<T> => ask<T>('GET', path, withinMs);
  return {
    get,
    async list<T>(path: string) {
      const items: T[] = [];
      let cursor = '';
      do {
        const page = await get<Page<T>>(`${path}?limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
        items.push(...page.items);
        cursor = page.next_cursor;
        // A page without items has nothing behind it, whatever its cursor says: the walk must end.
        if (page.items.length === 0) {
          break;
        }
      } while (cursor !== '');
      return items;
    },
    post: (path) => ask('POST', path, changeWithinMs),
    download: async (path) => Readable.fromWeb((await reach('GET', path, downloadWithinMs)).body as ReadableStream),
  };
}

async function bodyOf(response: Response, url: string): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    throw unreachable(`svc at ${url} broke off its answer (${reasonOf(cause)}): try again`, cause);
  });
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw unreachable(`what answers at ${url} is not svc: another program has taken its port; see "svc doctor"`, cause);
  }
}

function refusal(status: number, body: unknown): Failure {
  const { error = 'internal', message, details } = (body ?? {}) as { error?: ErrorCode; message?: string; details?: unknown };
  return new Failure(status < 500 ? 4 : 1, error, message ?? `svc answered with status ${status}`, { details });
}

/** fetch hides why behind "fetch failed". */
function reasonOf(error: unknown): string {
  const { cause, name } = error as { cause?: { code?: string; message?: string }; name?: string };
  return name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? cause?.message ?? messageOf(error));
}
