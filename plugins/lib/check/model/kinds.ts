/** Protocols that a check speaks, commands that the owner of a machine allows, and steps in a browser. */
export const checkKinds = [
  'http',
  'tcp',
  'tls',
  'dns',
  'domain',
  'ping',
  'smtp',
  'postgres',
  'mysql',
  'redis',
  'mqtt',
  'grpc',
  'websocket',
  'command',
  'browser',
] as const;
export type CheckKind = (typeof checkKinds)[number];

/** Scheme of a URL, its usual port, and whether TLS begins with the connection. */
export interface Scheme {
  readonly port: number;
  readonly isSecure: boolean;
}

const plain = (port: number): Scheme => ({ port, isSecure: false });
const secure = (port: number): Scheme => ({ port, isSecure: true });

/** Schemes of the kinds whose target is a URL; the first is meant where a target has none. */
export const schemesOf: Readonly<Partial<Record<CheckKind, Readonly<Record<string, Scheme>>>>> = {
  http: { http: plain(80), https: secure(443) },
  smtp: { smtp: plain(25), submission: plain(587), smtps: secure(465) },
  postgres: { postgres: plain(5432), postgresql: plain(5432) },
  mysql: { mysql: plain(3306), mariadb: plain(3306) },
  redis: { redis: plain(6379), rediss: secure(6379) },
  mqtt: { mqtt: plain(1883), mqtts: secure(8883) },
  grpc: { grpc: plain(50_051), grpcs: secure(443) },
  websocket: { ws: plain(80), wss: secure(443) },
};

/** Kinds that begin TLS on an open connection when the server offers it. */
export const upgradingKinds: readonly CheckKind[] = ['smtp', 'postgres', 'mysql'];

/** Returns the kind of a check that names none. */
export function kindOf(target: string): CheckKind {
  const [, scheme] = /^([a-z]+):\/\//i.exec(target) ?? [];
  const known = Object.entries(schemesOf).find(
    ([, schemes]) => scheme !== undefined && Object.hasOwn(schemes, scheme.toLowerCase()),
  );
  return (
    (known?.[0] as CheckKind | undefined) ??
    (/^(?:\[.+\]|[^:]+):\d+$/.test(target) ? 'tcp' : 'ping')
  );
}

/** Address that a check connects to, as its target says. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Decoded path, without the leading slash. */
  readonly path: string;
  /** Path and query as they are sent. */
  readonly request: string;
  /** Host and port as HTTP names them. */
  readonly authority: string;
}

/** Reads the target of a kind that has schemes; undefined if it is none. */
export function endpointOf(kind: CheckKind, target: string): Endpoint | undefined {
  const schemes = schemesOf[kind];
  if (schemes === undefined) {
    return undefined;
  }
  const whole = target.includes('://') ? target : `${Object.keys(schemes)[0]}://${target}`;
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.+)$/i.exec(whole) ?? [];
  const usual = Object.hasOwn(schemes, scheme.toLowerCase())
    ? schemes[scheme.toLowerCase()]
    : undefined;
  // Under a scheme that URL knows, so that a host means the same everywhere.
  const under = `http://${rest}`;
  if (usual === undefined || !URL.canParse(under)) {
    return undefined;
  }
  const url = new URL(under);
  const path = decoded(url.pathname.slice(1));
  if (url.username !== '' || url.password !== '' || path === undefined) {
    return undefined;
  }
  // URL leaves the port of http out, which is nobody else's usual one.
  const written = /^[^/?#]*:(\d+)(?:[/?#]|$)/.exec(rest)?.[1];
  const port = written === undefined ? usual.port : Number(written);
  return port > 0 && port <= 65_535
    ? {
        host: url.hostname.replaceAll(/^\[|\]$/g, ''),
        port,
        isSecure: usual.isSecure,
        path,
        request: `${url.pathname}${url.search}`,
        authority: port === usual.port ? url.hostname : `${url.hostname}:${port}`,
      }
    : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that begins no character: the address is not valid.
    return undefined;
  }
}
