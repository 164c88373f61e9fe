import {
  type Clock,
  isSvcError,
  messageOf,
  type OutboundReply,
  type OutboundRequest,
  parseForeignJson,
} from 'svc/sdk';

/** One for each remedy. */
export const connectionCodes = [
  'ok',
  'dns',
  'refused',
  'unreachable',
  'timeout',
  'tls',
  'not_allowed',
  'unauthorized',
  'not_that_product',
  'too_old',
  'read_only',
  'failing',
  'not_configured',
] as const;
export type ConnectionCode = (typeof connectionCodes)[number];

export interface ConnectionOutcome {
  readonly ok: boolean;
  readonly code: ConnectionCode;
  readonly latency_ms: number;
  readonly version?: string;
  readonly detail: string;
}

/** Address of a product. */
export interface ConnectionAddress {
  /** URL without a trailing slash. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls?: OutboundRequest['tls'];
  readonly reach?: OutboundRequest['reach'];
}

/** Information about a product from its answer. */
export interface Told {
  readonly version?: string;
  readonly isTooOld?: boolean;
  /** Name of another product that speaks the same protocol. */
  readonly name?: string;
}

/** One question to a product. */
export interface ProductQuestion extends Pick<OutboundRequest, 'method' | 'body'> {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined: no such product says this. */
  readonly read: (
    text: string,
    json: Readonly<Record<string, unknown>> | undefined,
  ) => Told | undefined;
  /** Tells more where it is known, and nothing where it is not. */
  readonly optional?: boolean;
}

export interface Product {
  readonly name: string;
  readonly oldest?: string;
  readonly questions: readonly ProductQuestion[];
  /** Why it does not accept the credentials, where its status says something else. */
  readonly refusal?: (status: number, text: string) => string | undefined;
  /** Remedy for TLS failures of protocols other than HTTP. */
  readonly tlsRemedy?: string;
}

export interface ConnectionParts {
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
  readonly clock: Clock;
}

const patienceMs = 5_000;
const mostBytes = 4 * 1024 * 1024;

/** Asks a product all its questions, and says in one code and one sentence what came of it. */
export async function testConnection(
  parts: ConnectionParts,
  product: Product,
  address: ConnectionAddress,
  signal?: AbortSignal,
): Promise<ConnectionOutcome> {
  const began = parts.clock.monotonic();
  const ended = (code: ConnectionCode, detail: string, version?: string): ConnectionOutcome => ({
    ok: code === 'ok',
    code,
    latency_ms: Math.max(0, parts.clock.monotonic() - began),
    ...(version !== undefined && { version }),
    detail,
  });
  let version: string | undefined;
  let { name } = product;
  for (const question of product.questions) {
    const answer = await asked(parts, product, question, address, signal);
    if ('code' in answer) {
      if (question.optional) {
        continue;
      }
      return ended(answer.code, answer.detail, version);
    }
    version = answer.version?.slice(0, 80) ?? version;
    name = answer.name ?? name;
    if (answer.isTooOld) {
      return ended(
        'too_old',
        `${hostOf(address.url)} is ${product.name} ${version}; svc needs ${product.oldest} or later`,
        version,
      );
    }
  }
  return ended(
    'ok',
    version === undefined ? `${name} answers` : `${name} ${version} answers`,
    version,
  );
}

type Failure = Pick<ConnectionOutcome, 'code' | 'detail'>;

async function asked(
  { fetch }: ConnectionParts,
  product: Product,
  { path, method = 'GET', body, headers, read }: ProductQuestion,
  address: ConnectionAddress,
  signal?: AbortSignal,
): Promise<Told | Failure> {
  try {
    const reply = await fetch(`${address.url}${path}`, {
      method,
      body,
      timeoutMs: patienceMs,
      maxBytes: mostBytes,
      headers: { ...address.headers, ...headers },
      ...(address.tls && { tls: address.tls }),
      ...(address.reach && { reach: address.reach }),
      ...(signal && { signal }),
    });
    return failureOfStatus(reply, product) ?? toldBy(reply, product, read);
  } catch (error) {
    return failureOf(error, address, product);
  }
}

function toldBy(
  { url, body }: OutboundReply,
  { name }: Product,
  read: ProductQuestion['read'],
): Told | Failure {
  const text = Buffer.from(body).toString('utf8');
  return (
    read(text, objectIn(text)) ?? {
      code: 'not_that_product',
      detail: `${hostOf(url)} answers, but not like ${name}; check that this is its base address`,
    }
  );
}

function failureOfStatus(
  { status, headers, url, body }: OutboundReply,
  { name, refusal }: Product,
): Failure | undefined {
  const host = hostOf(url);
  if (status >= 200 && status < 300) {
    return undefined;
  }
  const refused = refusal?.(status, Buffer.from(body.subarray(0, 10_000)).toString('utf8'));
  if (refused !== undefined) {
    return { code: 'unauthorized', detail: refused };
  }
  if (status === 401 || status === 403 || status === 407) {
    return {
      code: 'unauthorized',
      detail: `${host} does not accept the credentials (status ${status}); check user, password, token and tenant`,
    };
  }
  if (status >= 300 && status < 400) {
    const to = hostOf(headers['location'] ?? '', url);
    return {
      code: 'not_that_product',
      detail: `${host} redirects to ${to}; enter the address of ${name} itself, past any sign-in page`,
    };
  }
  if (status === 404 || status === 405 || status === 400) {
    return {
      code: 'not_that_product',
      detail: `${host} does not have the paths of ${name} (status ${status}); check that this is its base address`,
    };
  }
  const said = Buffer.from(body.subarray(0, 300)).toString('utf8').replaceAll(/\s+/g, ' ').trim();
  return { code: 'failing', detail: `${host} answered ${status}${said === '' ? '' : `: ${said}`}` };
}

const dnsErrors = /^(?:ENOTFOUND|EAI_|ESERVFAIL|ENODATA|ETIMEOUT|EREFUSED)/;
const tlsErrors =
  /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_OSSL|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|CRL_|PATH_LENGTH)/;

/** Why no answer came. */
export function failureOf(
  error: unknown,
  { url }: Pick<ConnectionAddress, 'url'>,
  { name, tlsRemedy = 'add its authority, or use http://' }: Pick<Product, 'name' | 'tlsRemedy'>,
): Failure {
  const host = hostOf(url);
  if (!isSvcError(error)) {
    return { code: 'failing', detail: messageOf(error) };
  }
  const cause = (error.cause as { code?: string } | undefined)?.code ?? '';
  switch (error.reason) {
    case 'outbound.timed_out':
    case 'outbound.silent':
      return { code: 'timeout', detail: error.message };
    case 'outbound.reply_too_large':
    case 'outbound.redirects':
      return {
        code: 'not_that_product',
        detail: `${error.message}; check that this is the base address of ${name}`,
      };
    case 'outbound.failed':
      break;
    default:
      // Connections that other rooms make fail in the same words.
      if (error.code === 'upstream_error' && cause !== '') {
        break;
      }
      // The guard of addresses, or a text that is no address at all.
      return {
        code: error.code === 'invalid_argument' ? 'not_allowed' : 'failing',
        detail: error.message,
      };
  }
  if (dnsErrors.test(cause)) {
    return {
      code: 'dns',
      detail: `the name ${host} cannot be resolved (${cause}); check its spelling and the resolver of this machine`,
    };
  }
  if (tlsErrors.test(cause)) {
    return {
      code: 'tls',
      detail: `the certificate of ${host} is not trusted, or it does not use TLS (${cause}); ${tlsRemedy}`,
    };
  }
  if (cause === 'ECONNREFUSED') {
    return {
      code: 'refused',
      detail: `connection to ${host} refused; check that it is running, and its port`,
    };
  }
  if (/^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/.test(cause)) {
    return {
      code: 'unreachable',
      detail: `no route to ${host} (${cause}); check networks and firewalls`,
    };
  }
  if (cause === 'ETIMEDOUT') {
    return {
      code: 'timeout',
      detail: `connection to ${host} timed out; check firewalls`,
    };
  }
  // It closed the connection, or answered with something that is no HTTP.
  return {
    code: 'not_that_product',
    detail: `${host} accepted the connection but did not answer like ${name} (${cause || error.message}); check whether it expects https://`,
  };
}

/** Returns whether the version is known, and older than `oldest`. */
export function isBefore(version: string | undefined, oldest: string): boolean {
  const found = /^v?(\d+)\.(\d+)/.exec(version ?? '');
  const [major = 0, minor = 0] = oldest.split('.').map(Number);
  return (
    found !== null &&
    (Number(found[1]) < major || (Number(found[1]) === major && Number(found[2]) < minor))
  );
}

export function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseForeignJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** An address may hold keys in its path: only its host is said. */
export const hostOf = (url: string, base?: string): string =>
  URL.canParse(url, base) ? new URL(url, base).host : 'another address';
