import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename } from 'node:path';

import { messageOf, SvcError } from '../../../core/sdk/index.ts';
import { errors } from './errors.ts';

export interface Fetched {
  readonly sha256: string;
  readonly signature: string | undefined;
}

const largest = 512 * 1024 * 1024;
const small = 4_096;
const silentMs = 30_000;
const mostRedirects = 3;

/** Brings a version, its checksum and its signature here, from a file or an address; `file` is complete on disk afterwards. */
export async function fetchVersion(from: string, file: string): Promise<Fetched> {
  const isAddress = /^https?:\/\//.test(from);
  const name = basename(from);
  rmSync(file, { force: true });
  const sha256 = await write(isAddress ? await opened(from) : fromFile(from), file, from);
  const beside = (ending: string): Promise<string | undefined> =>
    isAddress ? textAt(from + ending) : Promise.resolve(textIn(from + ending));
  const stated = /^([0-9a-f]{64})\b/i.exec((await beside('.sha256')) ?? '')?.[1]?.toLowerCase();
  if (stated !== undefined && stated !== sha256) {
    throw errors.digest_differs({ name });
  }
  chmodSync(file, 0o755);
  return { sha256, signature: await beside('.sig') };
}

function fromFile(path: string): AsyncIterable<Uint8Array> {
  if (!existsSync(path) || !statSync(path).isFile()) {
    throw errors.no_file({ path });
  }
  return createReadStream(path);
}

async function write(
  content: AsyncIterable<Uint8Array>,
  file: string,
  from: string,
): Promise<string> {
  const hash = createHash('sha256');
  const descriptor = openSync(file, 'wx', 0o700);
  let size = 0;
  try {
    for await (const chunk of content) {
      size += chunk.length;
      if (size > largest) {
        throw errors.file_too_large({ from, largest });
      }
      hash.update(chunk);
      writeSync(descriptor, chunk);
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return hash.digest('hex');
}

const textIn = (path: string): string | undefined =>
  existsSync(path) && statSync(path).size <= small ? readFileSync(path, 'utf8').trim() : undefined;

async function textAt(url: string): Promise<string | undefined> {
  const answer = await asked(url);
  if (answer.status === 404 || answer.status === 410) {
    return undefined;
  }
  return (await answer.text()).slice(0, small).trim();
}

async function opened(url: string): Promise<AsyncIterable<Uint8Array>> {
  const { status, body } = await asked(url);
  if (status !== 200 || body === null) {
    throw errors.address_answered({ url, status });
  }
  return quick(body, url);
}

/** A sender that has fallen silent is not waited for. */
async function* quick(body: AsyncIterable<Uint8Array>, url: string): AsyncIterable<Uint8Array> {
  const parts = body[Symbol.asyncIterator]();
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(errors.sender_silent({ url, seconds: silentMs / 1_000 })),
        silentMs,
      );
    });
    const next = await Promise.race([parts.next(), silence]).finally(() => clearTimeout(timer));
    if (next.done === true) {
      return;
    }
    yield next.value;
  }
}

/** Fetches by https only, also for redirects; http is allowed to this machine itself. */
async function asked(url: string, redirects = 0): Promise<Response> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !['127.0.0.1', 'localhost', '[::1]'].includes(hostname)) {
    throw errors.no_https({ url });
  }
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), silentMs);
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: silent.signal });
    const onward = answer.headers.get('location');
    if (
      answer.status >= 300 &&
      answer.status < 400 &&
      onward !== null &&
      redirects < mostRedirects
    ) {
      return await asked(new URL(onward, url).href, redirects + 1);
    }
    return answer;
  } catch (error) {
    const cause = (error as { cause?: unknown }).cause ?? error;
    throw error instanceof SvcError
      ? error
      : errors.address_unreachable({ url, cause: messageOf(cause) }, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
