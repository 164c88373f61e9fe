import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';

import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import type { Clock } from 'svc/sdk';

import type { Address, ProbeRules } from '../../reach/probe-rules.ts';
import { errors } from '../errors.ts';
import { plainText } from '../fit-rows.ts';

interface Params {
  readonly url: string;
  readonly method: 'GET' | 'HEAD';
  readonly body_bytes: number;
}

/** Headers that give their reader a right. */
const secretHeaders = new Set([
  'set-cookie',
  'authorization',
  'www-authenticate',
  'proxy-authenticate',
  'authentication-info',
]);
const [maxHeaders, longestHeader] = [60, 1_000];

export const httpProbe = (rules: ProbeRules, clock: Clock): EdgeSkill => ({
  key: 'http_probe',
  name: 'HTTP request',
  description:
    'Sends one HTTP request without credentials from this machine and returns the status, headers, timings and certificate. Redirects are reported, not followed.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['url'],
    properties: {
      url: {
        type: 'string',
        pattern: '^https?://',
        examples: ['https://shop.example.org/health'],
        maxLength: 2000,
      },
      method: { enum: ['GET', 'HEAD'], default: 'GET' },
      body_bytes: {
        type: 'integer',
        minimum: 0,
        maximum: 16384,
        default: 0,
        description: 'Number of bytes of the body to return.',
      },
    },
  },
  async run({ url, method, body_bytes: maxBody }: Params, call: SkillCall) {
    const target = parseTarget(url);
    const secure = target.protocol === 'https:';
    const port = target.port === '' ? (secure ? 443 : 80) : Number(target.port);
    const address = await rules.target(target.hostname, port);
    return {
      result: {
        address: address.address,
        port,
        ...(await ask({ target, secure, port, method, maxBody, address, clock }, call)),
      },
    };
  },
});

interface Question {
  readonly target: URL;
  readonly secure: boolean;
  readonly port: number;
  readonly method: string;
  readonly maxBody: number;
  readonly address: Address;
  readonly clock: Clock;
}

function ask(
  { target, secure, port, method, maxBody, address, clock }: Question,
  { signal }: SkillCall,
): Promise<object> {
  const from = clock.monotonic();
  const took = (): number => Math.round(clock.monotonic() - from);
  const host = target.hostname.replaceAll(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    // To the address that was checked; the name is in the Host header and in the greeting of TLS.
    const outgoing = (secure ? httpsRequest : httpRequest)({
      host: address.address,
      family: address.family,
      port,
      method,
      agent: false,
      path: `${target.pathname}${target.search}`,
      headers: { host: target.host, 'user-agent': 'svc-probe', accept: '*/*' },
      // An invalid certificate is a finding, and nothing secret is sent.
      ...(secure && { rejectUnauthorized: false, ...(isIP(host) === 0 && { servername: host }) }),
    });
    const stop = (): void => void outgoing.destroy(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    outgoing.once('close', () => signal.removeEventListener('abort', stop));
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) {
        reject(error);
      } else {
        resolve({
          answered: false,
          error: error.code ?? plainText(error.message).slice(0, 200),
          took_ms: took(),
        });
      }
    });
    outgoing.once('response', (incoming) => {
      const answered = {
        answered: true,
        error: null,
        status: incoming.statusCode ?? 0,
        http_version: incoming.httpVersion,
        first_byte_ms: took(),
      };
      const tls = secure ? describe(incoming.socket as TLSSocket) : null;
      readBody(incoming, maxBody).then(({ text, truncated }) => {
        outgoing.destroy();
        resolve({
          ...answered,
          headers: headersOf(incoming),
          tls,
          body: text,
          body_truncated: truncated,
          took_ms: took(),
        });
      }, reject);
    });
    outgoing.end();
    if (signal.aborted) {
      stop();
    }
  });
}

function parseTarget(url: string): URL {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (
    target === undefined ||
    (target.protocol !== 'http:' && target.protocol !== 'https:') ||
    target.username !== '' ||
    target.password !== ''
  ) {
    throw errors.url_form();
  }
  return target;
}

/** Stops reading when there is enough; a body may have no end. */
async function readBody(
  incoming: IncomingMessage,
  most: number,
): Promise<{ text: string; truncated: boolean }> {
  let body = Buffer.alloc(0);
  if (most > 0) {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      body = Buffer.concat([body, chunk]);
      if (body.length > most) {
        break;
      }
    }
  }
  return {
    text: plainText(body.subarray(0, most).toString('utf8')),
    truncated: body.length > most || (most === 0 && !incoming.complete),
  };
}

const headersOf = ({ headers }: IncomingMessage): object =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, maxHeaders)
      .map(([name, value]) => [
        name,
        secretHeaders.has(name) ? '[redacted]' : plainText(String(value)).slice(0, longestHeader),
      ]),
  );

function describe(socket: TLSSocket): object {
  const certificate = socket.getPeerCertificate() as Partial<PeerCertificate>;
  const name = (value: unknown): string | null =>
    typeof value === 'string' ? plainText(value).slice(0, 200) : null;
  return {
    protocol: socket.getProtocol(),
    authorized: socket.authorized,
    problem: socket.authorized
      ? null
      : String(socket.authorizationError ?? 'unknown').slice(0, 200),
    subject: name(certificate.subject?.CN),
    issuer: name(certificate.issuer?.CN),
    names: name(certificate.subjectaltname),
    valid_from: name(certificate.valid_from),
    valid_to: name(certificate.valid_to),
  };
}
