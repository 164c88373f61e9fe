import { isUtf8 } from 'node:buffer';
import { withPin } from '../../registry/index.ts';
import {
  isSvcError,
  parseForeignJson,
  type RequestHeaders,
  type SvcError,
} from '../../sdk/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { CompiledRoute, Served } from '../routes/route-table.ts';
import { errors } from './errors.ts';
import { trailersRefusal } from './head.ts';

/** Asks the route whether this body may come in, when it has a say in that; its quota is released with the call. */
export function admitBody(exchange: Exchange, served: Served): void {
  const { admit } = served.route.declaration;
  if (admit === undefined) {
    return;
  }
  const { principal, req } = exchange;
  const length = req.headers['content-length'];
  const arrival = {
    principal,
    headers: req.headers as RequestHeaders,
    announcedBytes: length === undefined ? undefined : Number(length),
  };
  const quota = onAccount(exchange, served, () => admit(arrival));
  exchange.bodyQuota = {
    reserve: (bytes) => onAccount(exchange, served, () => quota.reserve(bytes)),
    release: () => onAccount(exchange, served, () => quota.release()),
  };
}

function onAccount<R>({ front }: Exchange, { route, pin }: Served, work: () => R): R {
  try {
    return withPin(pin, work);
  } catch (error) {
    if (isSvcError(error)) {
      throw error;
    }
    front.strike(route.owner, route.key, error);
    throw errors.route_undecided({ cause: error });
  }
}

/** Reads, limits and decodes what the request carries; a body that the route did not ask for is refused. */
export async function readBody(
  exchange: Exchange,
  { declaration }: CompiledRoute,
): Promise<unknown> {
  const wanted =
    declaration.kind === 'bytes'
      ? declaration.consumes
      : declaration.method === 'GET'
        ? undefined
        : ['application/json'];
  if (wanted === undefined) {
    throw errors.no_body_taken();
  }
  requireType(exchange, wanted, declaration.kind === 'bytes');
  const most = declaration.maxBodyBytes ?? exchange.front.limits.bodyBytes;
  if (Number(exchange.req.headers['content-length'] ?? 0) > most) {
    throw tooLarge(most);
  }
  if (declaration.streamed) {
    return pieces(exchange, most);
  }
  const bytes = await collect(exchange, most);
  exchange.bodyRead = true;
  exchange.rawBody = bytes;
  return declaration.kind === 'bytes' ? bytes : decodeJson(bytes, declaration.body);
}

/** Returns the input of a handler if nothing was sent. */
export function noBody(exchange: Exchange, { declaration }: CompiledRoute): unknown {
  exchange.bodyRead = true;
  return declaration.kind === 'bytes' ? Buffer.alloc(0) : absent(declaration.body);
}

/** Checks the decoded body against the route's schema. */
export function checkBody(
  exchange: Exchange,
  { declaration, shapes }: CompiledRoute,
  body: unknown,
): void {
  if (declaration.body !== undefined) {
    shapes.checkBody(body, exchange.rawBody?.length ?? 0);
  } else if (declaration.kind !== 'bytes' && body !== undefined) {
    const [field] = isObject(body) ? Object.keys(body) : [];
    if (field !== undefined) {
      throw errors.no_field_taken({ field: field.slice(0, 100) });
    }
    if (!isObject(body) || Array.isArray(body)) {
      throw errors.no_body_taken();
    }
  }
}

/** An object of optional fields may be left out altogether; then its required fields are what is missing. */
const absent = (schema: object | undefined): unknown =>
  schema !== undefined && (schema as { type?: unknown }).type === 'object' ? {} : undefined;

/** Decodes a hostile text: no key that could reach a prototype, no nesting that could exhaust a stack. */
function decodeJson(bytes: Buffer, schema: object | undefined): unknown {
  if (bytes.length === 0) {
    return absent(schema);
  }
  if (!isUtf8(bytes)) {
    throw errors.body_no_utf8();
  }
  let value: unknown;
  try {
    value = parseForeignJson(bytes.toString('utf8'));
  } catch (cause) {
    throw cause instanceof RangeError
      ? errors.body_too_large({ max: cause.message })
      : errors.body_no_json({ cause });
  }
  inspect(value);
  return value;
}

/**
 * A form or plain text is what another site can make a browser send, so the type is demanded, not guessed.
 * Byte routes get encoded bodies as they came and inflate them under their own limits.
 */
function requireType({ req }: Exchange, wanted: readonly string[], encodingAllowed: boolean): void {
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  if (
    !wanted.some(
      (accepted) =>
        accepted === type ||
        accepted === '*/*' ||
        (accepted.endsWith('/*') && type.startsWith(accepted.slice(0, -1))),
    )
  ) {
    throw errors.body_type({ types: wanted.join(' or ') });
  }
  if (!encodingAllowed && !/^utf-?8$/.test(charset ?? 'utf8')) {
    throw errors.body_charset();
  }
  const encoding = req.headers['content-encoding'];
  if (!encodingAllowed && (encoding ?? 'identity') !== 'identity') {
    throw errors.body_compressed();
  }
}

const tooLarge = (bytes: number): SvcError =>
  errors.body_too_large({
    max:
      bytes >= 1024 * 1024
        ? `${Math.floor(bytes / 1024 / 1024)} MiB`
        : `${Math.floor(bytes / 1024)} KiB`,
  });

/** Leaves what its reader does not take in the connection, where the client has to wait. */
async function* pieces(exchange: Exchange, most: number): AsyncGenerator<Uint8Array> {
  const { req, front, bodyQuota } = exchange;
  const late = setTimeout(() => req.destroy(), front.limits.uploadTimeoutMs);
  let left = most;
  try {
    for await (const piece of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      left -= piece.length;
      if (left < 0) {
        throw tooLarge(most);
      }
      bodyQuota?.reserve(piece.length);
      yield piece;
    }
    const refusal = trailersRefusal(exchange);
    if (refusal !== undefined) {
      throw refusal;
    }
    exchange.bodyRead = true;
  } catch (error) {
    throw isSvcError(error) ? error : errors.body_cut();
  } finally {
    clearTimeout(late);
  }
}

function collect(exchange: Exchange, most: number): Promise<Buffer> {
  const { req, front, bodyQuota } = exchange;
  const { bodyBytes, requestTimeoutMs, uploadTimeoutMs } = front.limits;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      req.off('data', take).off('end', done).off('error', broken).off('close', broken);
      end();
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > most) {
        settle(() => reject(tooLarge(most)));
        return;
      }
      try {
        bodyQuota?.reserve(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const done = (): void =>
      settle(() => {
        const refusal = trailersRefusal(exchange);
        if (refusal === undefined) {
          resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
        } else {
          reject(refusal);
        }
      });
    const broken = (): void => settle(() => reject(errors.body_cut()));
    const slow = (): void => settle(() => reject(errors.body_slow()));
    const timer = setTimeout(slow, most > bodyBytes ? uploadTimeoutMs : requestTimeoutMs);
    req.on('data', take).on('end', done).on('error', broken).on('close', broken);
  });
}

const deepest = 64;
const forbidden = ['__proto__', 'constructor', 'prototype'];
/** Half of a character: a surrogate without its other one. */
const halved = /\p{Cs}/u;

/** Walks level by level, so that depth costs no stack. */
function inspect(root: unknown): void {
  let level = [root].filter(isObject);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > deepest) {
      throw errors.body_deep({ max: deepest });
    }
    level = level.flatMap(membersOf);
  }
}

function membersOf(node: object): object[] {
  const field = forbidden.find((key) => Object.hasOwn(node, key));
  if (field !== undefined) {
    const details = [{ path: `/${field}`, message: 'is never accepted' }];
    throw errors.body_field({ field }, { details });
  }
  // Storage would write another character in its place, and the caller would not find it again under its name.
  if (
    Object.entries(node)
      .flat()
      .some((part) => typeof part === 'string' && halved.test(part))
  ) {
    throw errors.body_surrogate();
  }
  return Object.values(node).filter(isObject);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
