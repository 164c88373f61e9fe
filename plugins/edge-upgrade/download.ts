import { createWriteStream, rmSync, statfsSync, statSync, type WriteStream } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TLSSocket } from 'node:tls';

import { isSvcError, messageOf, SvcError } from 'svc/sdk';
import { spkiPin, through } from 'svc/tunnel';

import { redirected, type Source } from './address.ts';
import { errors } from './errors.ts';

export interface Download {
  readonly source: Source;
  readonly file: string;
  /** Hash in hexadecimal, as in the order. */
  readonly sha256: string;
  /** Size from the order; undefined accepts any. */
  readonly sizeBytes: number | undefined;
  /** Max tries without progress. */
  readonly maxTries: number;
  readonly signal: AbortSignal;
  readonly pause: (ms: number) => Promise<void>;
}

export const largestBytes = 512 * 1024 * 1024;
const spareBytes = 16 * 1024 * 1024;
const maxRedirects = 3;
const silentMs = 30_000;

/** Answers after which asking again may help. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Fetches a package into `file`, going on where an earlier try, or an earlier life of this agent, has broken off. */
export async function download(wanted: Download): Promise<void> {
  const { file, maxTries } = wanted;
  for (let tried = 1, had = sizeOf(file); ; tried++) {
    try {
      await fetchRest(wanted);
      return;
    } catch (error) {
      tried = sizeOf(file) > had ? 1 : tried;
      had = Math.max(had, sizeOf(file));
      if (wanted.signal.aborted || isFinal(error) || tried >= maxTries) {
        throw error;
      }
      await wanted.pause(Math.min(1_000 * 2 ** (tried - 1), 15_000));
    }
  }
}

async function fetchRest({
  source: first,
  file,
  sha256,
  sizeBytes,
  signal,
}: Download): Promise<void> {
  if (sizeBytes !== undefined && sizeBytes > largestBytes) {
    throw tooLarge();
  }
  let have = sizeOf(file);
  if (have > (sizeBytes ?? largestBytes)) {
    rmSync(file, { force: true });
    have = 0;
  }
  if (have === sizeBytes) {
    return;
  }
  const { response, source } = await ask(first, have, signal);
  try {
    const from = beginning(response, source, have, file);
    assertSame(response.headers.etag, sha256, source);
    const length = response.headers['content-length'];
    const left = length === undefined ? undefined : Number(length);
    const whole = sizeBytes ?? (left === undefined ? undefined : from + left);
    if ((whole ?? 0) > largestBytes) {
      throw tooLarge();
    }
    assertRoom(dirname(file), (whole ?? from) - from);
    await take(
      response,
      createWriteStream(file, { flags: from === 0 ? 'w' : 'a', mode: 0o600 }),
      capped(from, sizeBytes ?? largestBytes),
      signal,
    );
    const got = sizeOf(file);
    if (whole !== undefined && got !== whole) {
      throw errors.cut_short({ host: source.url.host, got, whole });
    }
  } finally {
    response.destroy();
  }
}

/** Throws if the package was replaced meanwhile: the manager names it by its digest. */
function assertSame(tag: string | undefined, sha256: string, { url, authorization }: Source): void {
  const named = /^"([0-9a-f]{64})"$/.exec(tag ?? '')?.[1];
  if (authorization !== undefined && named !== undefined && named !== sha256) {
    throw errors.package_replaced({ host: url.host, named });
  }
}

async function take(
  response: IncomingMessage,
  file: WriteStream,
  cap: Transform,
  signal: AbortSignal,
): Promise<void> {
  try {
    await pipeline(response, cap, file, { signal });
  } catch (cause) {
    // Errors about the file and the limit are specific; a connection only says "aborted".
    throw isSvcError(cause) || isOfDisk(cause) || signal.aborted
      ? cause
      : errors.connection_lost({ cause: messageOf(cause) }, { cause });
  } finally {
    // It may not even be open yet, and would come into being after the failure has been cleaned up.
    await closed(file);
  }
}

const closed = (file: WriteStream): Promise<void> =>
  new Promise((resolve) => (file.closed ? resolve() : file.once('close', resolve)));

/** Returns the position in the file at which this answer begins. */
function beginning(response: IncomingMessage, { url }: Source, have: number, file: string): number {
  const { statusCode: status = 0, headers } = response;
  if (status === 416) {
    rmSync(file, { force: true });
    throw errors.part_too_short({ host: url.host });
  }
  if (status !== 200 && status !== 206) {
    throw new SvcError(
      passing.has(status) ? 'unavailable' : 'not_found',
      `${url.host} answered ${status} instead of the package`,
      { reason: 'edge-upgrade.answer_status' },
    );
  }
  if (/^text\/html\b/i.test(headers['content-type'] ?? '')) {
    throw errors.web_page({ host: url.host });
  }
  if (status === 200) {
    return 0;
  }
  if (!(headers['content-range'] ?? '').startsWith(`bytes ${have}-`)) {
    rmSync(file, { force: true });
    throw errors.other_part({ host: url.host });
  }
  return have;
}

async function ask(
  source: Source,
  have: number,
  signal: AbortSignal,
): Promise<{ response: IncomingMessage; source: Source }> {
  let at = source;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const response = await request(at, have, signal);
    if (![301, 302, 303, 307, 308].includes(response.statusCode ?? 0)) {
      return { response, source: at };
    }
    response.destroy();
    at = redirected(at, response.headers.location);
  }
  throw errors.redirect_loop({ host: source.url.host });
}

function request(
  { url, authorization, pin, ca, proxy }: Source,
  have: number,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const secure = url.protocol === 'https:';
  const options = {
    ...(proxy === undefined
      ? { agent: false as const }
      : { createConnection: through(proxy, secure) as never }),
    signal,
    timeout: silentMs,
    headers: {
      'user-agent': 'svc-edge',
      'accept-encoding': 'identity',
      ...(authorization !== undefined && { authorization }),
      ...(have > 0 && { range: `bytes=${have}-` }),
    },
    ...(secure && pin !== undefined && { rejectUnauthorized: false }),
    ...(secure && ca !== undefined && { ca }),
  } as const;
  return new Promise((resolve, reject) => {
    const asking = (secure ? httpsRequest : httpRequest)(url, options, (response) =>
      resolve(response),
    );
    asking.once('error', (error) =>
      reject(
        isSvcError(error)
          ? error
          : errors.download_failed({ host: url.host, cause: messageOf(error) }, { cause: error }),
      ),
    );
    asking.once('timeout', () =>
      asking.destroy(errors.silent({ host: url.host, seconds: silentMs / 1_000 })),
    );
    asking.once('socket', (socket) => {
      if (!(socket instanceof TLSSocket) || pin === undefined) {
        asking.end();
        return;
      }
      // The keys of this edge are for the manager alone.
      socket.once('secureConnect', () => {
        const shown = socket.getPeerX509Certificate();
        if (!shown || spkiPin(shown.raw) !== pin) {
          asking.destroy(errors.pin_mismatch({ host: url.host }));
          return;
        }
        asking.end();
      });
    });
  });
}

function capped(from: number, most: number): Transform {
  let total = from;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      total += chunk.length;
      done(total > most ? tooLarge() : null, chunk);
    },
  });
}

function assertRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < bytes + spareBytes) {
    throw errors.disk_full({ mib: Math.floor((bavail * bsize) / 2 ** 20) });
  }
}

const tooLarge = (): SvcError => errors.package_too_large();

/** A full disk is not made emptier by more of the same. */
const isOfDisk = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'EIO'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  );

/** Returns whether retrying would not help. */
export const isFinal = (error: unknown): boolean =>
  (isSvcError(error) && error.code !== 'unavailable') || isOfDisk(error);

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
