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
    throw new SvcError(
      'conflict',
      `the digest of ${name} does not match ${name}.sha256: nothing was changed; download both again`,
    );
  }
  chmodSync(file, 0o755);
  return { sha256, signature: await beside('.sig') };
}

function fromFile(path: string): AsyncIterable<Uint8Array> {
  if (!existsSync(path) || !statSync(path).isFile()) {
    throw new SvcError(
      'not_found',
      `there is no file ${path}: name the binary of the version, or its https address`,
    );
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
        throw new SvcError(
          'invalid_argument',
          `${from} is larger than ${largest} bytes, so it is not svc`,
        );
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
    throw new SvcError(
      'unavailable',
      `${url} answered ${status}: nothing was changed; check the address`,
    );
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
        () =>
          reject(
            new SvcError(
              'unavailable',
              `${url} has sent nothing for ${silentMs / 1_000} s: try again`,
            ),
          ),
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
    throw new SvcError(
      'invalid_argument',
      `${url} does not use https: download the file yourself and name it`,
    );
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
      : new SvcError(
          'unavailable',
          `${url} cannot be reached (${messageOf(cause)}): nothing was changed`,
          { cause: error },
        );
  } finally {
    clearTimeout(timer);
  }
}
