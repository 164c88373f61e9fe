import { type OutboundRequest, route, type RouteDeclaration } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import {
  type ConnectionAddress,
  connectionCodes,
  type ConnectionOutcome,
  type ConnectionParts,
  type Product,
  testConnection,
} from './connection-test.ts';
import { errors } from './errors.ts';

const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, description }));

/** An address that is only tried, with credentials of its own. */
export const TrialBody = Type.Object({
  url: text(
    500,
    'an address other than the one that is set; it is called without the stored credentials',
  ),
  user: text(200, 'of that address'),
  password: text(1_000, 'of that user; alone or as token it is sent as a bearer token'),
  token: text(4_000, 'sent as a bearer token'),
  tenant: text(200, 'sent as X-Scope-OrgID'),
  ca: text(64_000, 'authority of its certificate, as PEM'),
  cert: text(64_000, 'certificate to present to the server, as PEM'),
  key: text(64_000, 'private key of cert, as PEM'),
  insecure: Type.Optional(Type.Boolean({ description: 'Accept any certificate' })),
});

export type Trial = Static<typeof TrialBody>;

export const ConnectionAnswer = Type.Object({
  ok: Type.Boolean(),
  code: Type.Enum([...connectionCodes], {
    description: 'Result code; each code has its own remedy',
  }),
  latency_ms: Type.Number({ minimum: 0 }),
  version: Type.Optional(Type.String()),
  detail: Type.String(),
});

export interface TestRoute {
  readonly path: string;
  readonly summary: string;
  readonly action: string;
  /** The address that is set, or where this process keeps the data itself. */
  readonly saved: (signal: AbortSignal) => Promise<ConnectionOutcome>;
  readonly tried: (address: ConnectionAddress, signal: AbortSignal) => Promise<ConnectionOutcome>;
}

/** The test of one integration. What fails is an answer: only a body that makes no sense is an error. */
export const testRoute = ({ saved, tried, ...declared }: TestRoute): RouteDeclaration =>
  route({
    method: 'POST',
    access: 'admin',
    status: 200,
    body: TrialBody,
    response: ConnectionAnswer,
    ...declared,
    description:
      'Without a body, the current settings are tested. If the server fails, the response has ok: false rather than an error status.',
    async handle({ body, signal }) {
      const address = addressOf(body);
      return { ...(await (address === undefined ? saved(signal) : tried(address, signal))) };
    },
  });

/** Undefined: the address that is set is meant. */
export function addressOf(trial: Trial, isSaved = false): ConnectionAddress | undefined {
  const { url } = trial;
  if (url === undefined || url === '') {
    const stray = Object.entries(trial).find(
      ([name, value]) => name !== 'url' && value !== undefined && value !== '' && value !== false,
    )?.[0];
    if (stray !== undefined && !isSaved) {
      throw errors.no_url({ stray }, { details: [{ path: '/url', message: 'is needed' }] });
    }
    return undefined;
  }
  return { url: url.replace(/\/+$/, ''), headers: credentialHeaders(trial), ...tlsOf(trial) };
}

function credentialHeaders({
  user = '',
  password = '',
  token = '',
  tenant = '',
}: Trial): Record<string, string> {
  const bearer = token || (user === '' ? password : '');
  const authorization =
    bearer !== ''
      ? `Bearer ${bearer}`
      : user !== ''
        ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
        : '';
  return {
    accept: 'application/json',
    ...(authorization !== '' && { authorization }),
    ...(tenant !== '' && { 'x-scope-orgid': tenant }),
  };
}

function tlsOf({ ca = '', cert = '', key = '', insecure = false }: Trial): {
  tls?: NonNullable<OutboundRequest['tls']>;
} {
  const tls = {
    ...(ca !== '' && { ca }),
    ...(cert !== '' && { cert }),
    ...(key !== '' && { key }),
    ...(insecure && { insecure }),
  };
  return Object.keys(tls).length > 0 ? { tls } : {};
}

/** Outcome if there is no address to test yet. */
const notConfigured = (setting: string): ConnectionOutcome => ({
  ok: false,
  code: 'not_configured',
  latency_ms: 0,
  detail: `${setting} is empty: set it, or pass an address to test`,
});

export interface ProductTest
  extends Pick<TestRoute, 'path' | 'summary' | 'action'>, ConnectionParts {
  readonly product: Product;
  /** The setting that leads to it. */
  readonly setting: string;
  /** Returns the configured target; undefined if this process is the store. */
  readonly set: () => Trial | undefined;
  /** Tries more than reading, once the product answers: returns what to add to the outcome. */
  readonly writes?: (
    address: ConnectionAddress,
    signal: AbortSignal,
  ) => Promise<Partial<Pick<ConnectionOutcome, 'ok' | 'code'>> & { readonly detail: string }>;
  /** Examines the store of this process. */
  readonly own?: () => Promise<{
    readonly driver: string;
    readonly ok: boolean;
    readonly detail?: string;
    readonly delayMs: number;
    readonly version?: string;
  }>;
}

/** The test of a product that is reached by an address and credentials, and of what stands in for it here. */
export const productTestRoute = ({
  product,
  setting,
  set,
  own,
  writes,
  fetch,
  clock,
  ...declared
}: ProductTest): RouteDeclaration => {
  const tried: TestRoute['tried'] = async (address, signal) => {
    const outcome = await testConnection({ fetch, clock }, product, address, signal);
    if (!outcome.ok || writes === undefined) {
      return outcome;
    }
    const { detail, ...more } = await writes(address, signal);
    return { ...outcome, ...more, detail: `${outcome.detail}; ${detail}` };
  };
  return testRoute({
    ...declared,
    tried,
    async saved(signal) {
      const trial = set();
      if (trial === undefined && own !== undefined) {
        const {
          driver,
          ok,
          detail = ok ? `the ${driver} store answers` : 'it does not answer',
          delayMs,
          version,
        } = await own();
        return {
          ok,
          code: ok ? 'ok' : 'failing',
          latency_ms: delayMs,
          detail,
          ...(version !== undefined && { version }),
        };
      }
      const address = addressOf({ ...trial, url: trial?.url ?? '' }, true);
      return address === undefined ? notConfigured(setting) : tried(address, signal);
    },
  });
};
