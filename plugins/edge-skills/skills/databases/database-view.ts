import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import type { LocalPolicy } from 'svc/contracts/edge-uplink';
import { redactText } from 'svc/probe';

import type { AllowedViews } from '../../reach/allowed-views.ts';
import type { MachinePrograms } from '../../reach/machine-programs.ts';
import { errors } from '../errors.ts';
import { fitRows } from '../fit-rows.ts';
import { mysqlRows, mysqlViews } from './mysql-views.ts';
import { postgresScript, postgresViews } from './postgres-views.ts';
import { redisRows, redisViews } from './redis-views.ts';

type Kind = 'postgres' | 'mysql' | 'redis';

interface Params {
  readonly database?: string;
  readonly view: string;
}

/** A database that the owner of this machine has listed. */
interface Listed {
  readonly name: string;
  readonly kind: Kind;
  readonly url: URL;
}

const maxOutput = 1024 * 1024;
const views: Readonly<Record<Kind, object>> = {
  postgres: postgresViews,
  mysql: mysqlViews,
  redis: redisViews,
};

/** The client program of each kind: its arguments, what it reads, and where its password goes, which is never an argument. */
const clients: Readonly<Record<Kind, (url: URL, view: string) => ClientCall>> = {
  postgres: (url, view) => ({
    program: 'psql',
    args: [
      '--no-psqlrc',
      '--no-password',
      '--quiet',
      '--tuples-only',
      '--no-align',
      '--set=ON_ERROR_STOP=1',
    ],
    input: postgresScript(view),
    env: {
      // A folder as the host is that of the server's socket.
      PGHOST: url.searchParams.get('host') ?? hostOf(url),
      PGPORT: url.port || '5432',
      PGUSER: decodeURIComponent(url.username),
      PGPASSWORD: decodeURIComponent(url.password),
      PGDATABASE: databaseOf(url, 'postgres'),
      PGCONNECT_TIMEOUT: '5',
      PGAPPNAME: 'svc',
    },
    rows: (text) => JSON.parse(text) as readonly unknown[],
  }),
  mysql: (url, view) => ({
    program: 'mysql',
    args: [
      '--no-defaults',
      '--batch',
      '--connect-timeout=5',
      `--host=${hostOf(url)}`,
      `--port=${url.port || '3306'}`,
      `--user=${decodeURIComponent(url.username)}`,
    ],
    input: `set session transaction read only; ${mysqlViews[view]!};`,
    env: { MYSQL_PWD: decodeURIComponent(url.password) },
    rows: mysqlRows,
  }),
  redis: (url, view) => ({
    program: 'redis-cli',
    args: [
      '-h',
      hostOf(url),
      '-p',
      url.port || '6379',
      ...(url.username === '' ? [] : ['--user', decodeURIComponent(url.username)]),
      ...redisViews[view]!,
    ],
    input: '',
    env: { REDISCLI_AUTH: decodeURIComponent(url.password) },
    rows: (text) => redisRows(view, text),
  }),
};

interface ClientCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly input: string;
  readonly env: Readonly<Record<string, string>>;
  readonly rows: (text: string) => readonly unknown[];
}

export const databaseView = (
  programs: MachinePrograms,
  allowed: AllowedViews,
  policy: LocalPolicy,
): EdgeSkill => ({
  key: 'database_view',
  name: 'State of a database',
  description:
    'What a PostgreSQL, MySQL or Redis database is doing: activity (sessions and their queries), locks (who is waiting for whom), replication (lag, slots), slow (long-running statements), size, tables. Read-only; no data from tables or keys is shown.',
  class: 'safe',
  tier: 'specialty',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['view'],
    properties: {
      database: {
        type: 'string',
        pattern: '^[a-z][A-Za-z0-9_-]{0,63}$',
        description: "Name in the machine's policy; may be omitted if there is only one.",
      },
      view: { enum: ['activity', 'locks', 'replication', 'slow', 'size', 'tables'] },
    },
  },
  async run({ database, view }: Params, call: SkillCall) {
    allowed.requireView('databases');
    const { name, kind, url } = chosen(policy.current().skills.databases, database);
    if (!Object.hasOwn(views[kind], view)) {
      throw errors.no_view({ kind, view, views: Object.keys(views[kind]).join(', ') });
    }
    const { program, rows, ...question } = clients[kind](url, view);
    const { text } = await programs.ask(program, 'database_view', {
      ...question,
      call,
      maxBytes: maxOutput,
    });
    const all = read(name, () => rows(text.trim()));
    const shown = fitRows(all.map(withoutSecrets));
    const readOn =
      shown.length < all.length
        ? { hint: 'There are more rows than fit in the response.', params: {} }
        : undefined;
    return { result: { database: name, kind, view, rows: shown }, readOn };
  },
});

function chosen(list: readonly string[], name: string | undefined): Listed {
  const known = list.map((entry) => [entry.slice(0, entry.indexOf('=')), entry] as const);
  const found =
    name === undefined && known.length === 1 ? known[0] : known.find(([one]) => one === name);
  if (found === undefined) {
    throw errors.no_database({
      name: name ?? '',
      known:
        known.length === 0 ? 'it lists none' : `it lists ${known.map(([one]) => one).join(', ')}`,
    });
  }
  const text = found[1].slice(found[0].length + 1);
  if (!URL.canParse(text)) {
    throw errors.database_url({ name: found[0] });
  }
  const url = new URL(text);
  return { name: found[0], kind: url.protocol.slice(0, -1) as Kind, url };
}

const hostOf = (url: URL): string => url.hostname.replaceAll(/^\[|\]$/g, '') || '127.0.0.1';

const databaseOf = (url: URL, usual: string): string =>
  decodeURIComponent(url.pathname.slice(1)) || usual;

function read(name: string, rows: () => readonly unknown[]): readonly unknown[] {
  try {
    return rows();
  } catch (error) {
    throw errors.database_answer({ name }, { cause: error });
  }
}

/** Queries hold what people wrote into them. */
const withoutSecrets = (row: unknown): unknown =>
  typeof row === 'object' && row !== null
    ? Object.fromEntries(
        Object.entries(row).map(([field, value]) => [
          field,
          typeof value === 'string' ? redactText(value) : (value as unknown),
        ]),
      )
    : row;
