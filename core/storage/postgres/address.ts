import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

import { messageOf } from '../../sdk/index.ts';
import { errors } from './errors.ts';

/** Address of a database, and the manner of speaking to it. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Schema that holds everything of svc. */
  readonly schema: string;
  readonly applicationName: string;
  readonly ssl: ConnectionOptions | false;
  /** False if the URL says that no statement may be kept prepared. */
  readonly prepare: boolean;
  /** The host and port, for sentences. */
  readonly place: string;
}

const parameters = new Set([
  'application_name',
  'host',
  'prepare',
  'search_path',
  'sslmode',
  'sslrootcert',
]);
const modes = new Set(['disable', 'require', 'verify-ca', 'verify-full']);

/** Reads SVC_DATABASE_URL; a mistake in it is told without its password. */
export function addressOf(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw errors.pg_url({ problem: 'is not the URL of a Postgres database' });
  }
  const unknown = [...url.searchParams.keys()].find((name) => !parameters.has(name));
  if (unknown !== undefined) {
    throw errors.pg_url({ problem: `has the unknown parameter ${unknown}` });
  }
  const given = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const host = given('host') ?? decodeURIComponent(url.hostname.replace(/^\[|\]$/g, ''));
  const user = decodeURIComponent(url.username);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (host === '' || user === '' || database === '') {
    throw errors.pg_url({ problem: 'lacks the host, the user or the database' });
  }
  const schema = given('search_path') ?? 'svc';
  if (!/^[a-z_][a-z0-9_]{0,40}$/.test(schema) || schema.startsWith('pg_')) {
    throw errors.pg_url({
      problem: 'has a search_path that is not one name of lower-case letters, digits and _',
    });
  }
  const port = Number(url.port || 5432);
  return {
    host,
    port,
    user,
    password: decodeURIComponent(url.password),
    database,
    schema,
    applicationName: given('application_name') ?? 'svc',
    ssl: tlsOf(host, given('sslmode'), given('sslrootcert')),
    prepare: given('prepare') !== 'false',
    place: host.startsWith('/') ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`,
  };
}

const isLocal = (host: string): boolean =>
  host.startsWith('/') || host === 'localhost' || host === '::1' || host.startsWith('127.');

/** Encrypts and verifies unless nothing leaves this machine, or the URL says otherwise. */
function tlsOf(
  host: string,
  mode = isLocal(host) ? 'disable' : 'verify-full',
  rootFile?: string,
): Address['ssl'] {
  if (!modes.has(mode)) {
    throw errors.pg_url({ problem: `has an sslmode other than ${[...modes].join(', ')}` });
  }
  if (mode === 'disable') {
    return false;
  }
  return {
    rejectUnauthorized: mode !== 'require',
    ...(rootFile !== undefined && { ca: contentOf(rootFile) }),
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw errors.pg_url({
      problem: `names in sslrootcert a file that cannot be read (${messageOf(error)})`,
    });
  }
}
