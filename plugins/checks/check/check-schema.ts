import { checkKinds, maxSteps, recordTypes } from 'svc/check';
import { type Static, Type } from 'typebox';

import { Step } from './step-schema.ts';

const Timestamp = Type.String({ format: 'date-time' });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const ByName = Type.Object({ name: Type.String({ maxLength: 80 }) });

const Name = Type.String({
  pattern: '^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,78}[A-Za-z0-9])?$',
  examples: ['shop'],
  description: 'Value of the label check on its series; default: the host. Cannot be changed.',
});

const Kind = Type.Enum([...checkKinds], {
  description:
    'http: an HTTP request; tcp: a TCP connection; tls: a TLS handshake and its certificate; dns: a DNS lookup; domain: the registration of a domain, from its registry by RDAP; ping: an ICMP echo request; smtp, postgres, mysql, redis, mqtt, grpc, websocket: a conversation in that protocol; command: a command that the policy of an agent lists; browser: steps in Chromium, where it is installed. Default: by the scheme of a URL, tcp for host:port, otherwise ping.',
});

const Target = Type.String({
  minLength: 1,
  maxLength: 2_000,
  examples: ['https://shop.example.org/health'],
  description:
    'http and browser: a URL; tcp: host:port; tls: host or host:port; dns and ping: a host name; domain: a domain; command: the name of a command; the others: a URL such as smtp://, smtps://, postgres://host/database, mysql://, redis://, rediss://, mqtt://, mqtts://, grpc://host:port/service, grpcs://, ws:// or wss://. Values of parameters that look like secrets are encrypted and shown as ••••.',
});

/** Settings of a check that have a default; all are optional when it is written. */
const settings = {
  interval_s: Type.Integer({
    minimum: 10,
    maximum: 86_400,
    description:
      'Seconds between two rounds; default: 60, 300 for a browser, or 21600 for a domain',
  }),
  timeout_s: Type.Integer({
    minimum: 1,
    maximum: 60,
    description: 'Time limit of one probe; default: 10, or 30 for a browser',
  }),
  retries: Type.Integer({
    minimum: 0,
    maximum: 5,
    default: 1,
    description:
      'Number of times that a place repeats a failed probe, a second apart, before the failure counts',
  }),
  places: Type.Array(
    Type.String({
      minLength: 1,
      maxLength: 200,
      examples: ['svc', 'agent:web-1', 'tag:site=berlin'],
    }),
    {
      minItems: 1,
      maxItems: 20,
      default: ['svc'],
      description:
        'Where probes run: svc itself, agent:NAME, or all agents on devices with tag:KEY=VALUE or role:ROLE.',
    },
  ),
  down_at: Type.Integer({
    minimum: 0,
    maximum: 20,
    default: 0,
    description:
      'Number of places that must fail for the check to be down; 0: 1 if it has one place, otherwise 2',
  }),
  ip: Type.Enum(['any', '4', '6'], { default: 'any', description: 'IP version' }),
  conditions: Type.Array(
    Type.String({ minLength: 3, maxLength: 300, examples: ['[STATUS] == 200'] }),
    {
      maxItems: 20,
      default: [],
      description:
        'Conditions that must all hold, such as [STATUS] == 200, [RESPONSE_TIME] < 300, [BODY].status == ok, [CERTIFICATE_EXPIRATION] > 48h, len([BODY].items) > 0. Empty: http: a status below 400; dns: an answer; domain: a registration that has not ended; command: exit code 0 or 1; browser: all steps done; the others: a successful conversation, with a valid certificate.',
    },
  ),
  group: Type.String({
    maxLength: 80,
    default: '',
    examples: ['shop'],
    description: 'Service or site that the check belongs to: groups have an uptime of their own.',
  }),
  depends_on: Type.Array(
    Type.String({ minLength: 1, maxLength: 200, examples: ['gateway', 'node:rack-1'] }),
    {
      maxItems: 20,
      default: [],
      description:
        'What the check stands on: names of checks, or node:NAME for a node of the topology. While one of them is down, its alert is held back and the cause is named.',
    },
  ),
  badge: Type.Boolean({
    default: false,
    description:
      'Show the state and uptime of the check as a badge, /badges/checks/NAME, which is visible without signing in.',
  }),
} as const;

/** Settings that some kinds have, and that are absent where they are not set. */
const perKind = {
  method: Type.String({
    pattern: '^[A-Z]{3,10}$',
    examples: ['GET'],
    description: 'HTTP method; default: GET',
  }),
  max_redirects: Type.Integer({
    minimum: 0,
    maximum: 10,
    description: 'Maximum number of redirects to follow; default: 5',
  }),
  insecure: Type.Boolean({ description: 'Accept any certificate.' }),
  ca: Type.String({
    maxLength: 100_000,
    description:
      'Certificates of the trusted certification authorities, as PEM; default: those of the machine.',
  }),
  server_name: Type.String({
    pattern: '^[A-Za-z0-9_.-]{1,253}$',
    examples: ['shop.example.org'],
    description: 'Server name (SNI) for TLS; default: the host.',
  }),
  record_type: Type.Enum([...recordTypes], { description: 'Type of the DNS record; default: A' }),
  server: Type.String({
    maxLength: 260,
    description:
      'dns: name server, as host or host:port; default: those of the machine. domain: URL of the RDAP server; default: https://rdap.org, which redirects to the one of the registry.',
  }),
  username: Type.String({
    minLength: 1,
    maxLength: 200,
    description:
      'User that logs in to a mail server, database, cache or broker. Without one, a server that asks for a login counts as up.',
  }),
  tls: Type.Enum(['off', 'required'], {
    description:
      'Whether smtp, postgres and mysql begin TLS on an open connection; default: if the server offers it',
  }),
  proxy: Type.String({
    maxLength: 300,
    examples: ['http://proxy.example.org:3128'],
    description:
      'Proxy that an HTTP request goes through. Its password goes into the header Proxy-Authorization.',
  }),
  steps: Type.Array(Step, {
    maxItems: maxSteps,
    description:
      'What a browser does once it has opened the target, one after the other, until one fails.',
  }),
} as const;

/** Settings that are sealed, and never shown again. */
const sealed = {
  password: Type.String({ maxLength: 1_000, description: 'Password of username. Encrypted.' }),
  headers: Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 4_000 }), {
    maxProperties: 30,
    examples: [{ 'X-Probe': 'svc' }],
    description: 'HTTP headers. Values are encrypted and never shown.',
  }),
  body: Type.String({ maxLength: 100_000, description: 'Body of the HTTP request. Encrypted.' }),
  send: Type.String({
    maxLength: 4_000,
    description:
      'Text to send over a TCP connection or a WebSocket; for postgres, the query to run instead of SELECT 1. Encrypted.',
  }),
  secrets: Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 2_000 }), {
    maxProperties: 10,
    description:
      'Values that steps fill in, by name. Encrypted, and hidden in every result. A change keeps the values that it does not name.',
  }),
} as const;

const optional = <T extends Readonly<Record<string, Parameters<typeof Type.Optional>[0]>>>(
  fields: T,
) => Type.Partial(Type.Object(fields)).properties;

export const CheckDraft = Type.Object({
  name: Type.Optional(Name),
  kind: Type.Optional(Kind),
  target: Target,
  ...optional(settings),
  ...optional(perKind),
  ...optional(sealed),
  paused: Type.Optional(Type.Boolean({ default: false })),
});
export type CheckDraft = Static<typeof CheckDraft>;

export const CheckTrial = Type.Object({
  kind: Type.Optional(Kind),
  target: Target,
  ...optional(settings),
  ...optional(perKind),
  ...optional(sealed),
});
export type CheckTrial = Static<typeof CheckTrial>;

export const CheckChange = Type.Object({
  target: Type.Optional(Target),
  ...Object.fromEntries(
    Object.entries(settings).map(([field, schema]) => [field, Type.Optional(schema)]),
  ),
  ...Object.fromEntries(
    Object.entries({ ...perKind, ...sealed }).map(([field, schema]) => [
      field,
      Type.Optional(orNull(schema)),
    ]),
  ),
  paused: Type.Optional(Type.Boolean()),
});
export type CheckChange = Partial<Omit<CheckDraft, 'name' | 'kind'>>;

const Phases = Type.Record(Type.String(), Type.Number(), { description: 'Milliseconds by phase' });

const Certificate = Type.Object({
  expires_at: Timestamp,
  subject: orNull(Type.String()),
  issuer: orNull(Type.String()),
  names: orNull(Type.String()),
  problem: orNull(Type.String({ description: 'Why the place does not trust the certificate' })),
});

export const PlaceReading = Type.Object({
  place: Type.String(),
  state: Type.Enum(['up', 'failing', 'offline'], {
    description: 'offline: the place could not probe, so it says nothing about the target',
  }),
  at: orNull(Timestamp),
  cause: orNull(Type.String()),
  took_ms: orNull(Type.Number()),
  phases: Phases,
  address: orNull(Type.String()),
  status: orNull(Type.Integer()),
  banner: orNull(Type.String({ description: 'Product and version of the server' })),
  detail: orNull(Type.String({ description: 'First line that a command printed' })),
  measured: Type.Array(
    Type.Object({ label: Type.String(), value: Type.Number(), unit: Type.String() }),
    { description: 'Performance data of a command, at most 50' },
  ),
  certificate: orNull(Certificate),
  domain_expires_at: orNull(Timestamp),
  steps: Type.Array(
    Type.Object({
      step: Type.String(),
      state: Type.Enum(['done', 'failed', 'not_reached']),
      took_ms: orNull(Type.Number()),
    }),
    { description: 'Steps in a browser, beginning with the opening of the target' },
  ),
  findings: Type.Array(
    Type.Object({ condition: Type.String(), holds: Type.Boolean(), found: Type.String() }),
  ),
});
export type PlaceReading = Static<typeof PlaceReading>;

export const CheckShown = Type.Object({
  name: Type.String(),
  kind: Kind,
  target: Type.String(),
  ...settings,
  ...optional(perKind),
  header_names: Type.Array(Type.String()),
  secret_names: Type.Array(Type.String(), {
    description: 'Names of the values that steps fill in',
  }),
  has_body: Type.Boolean(),
  has_password: Type.Boolean(),
  paused: Type.Boolean(),
  state: Type.Enum(['up', 'down', 'stale', 'waiting', 'paused'], {
    description: 'stale: too few places could probe it to decide; waiting: not probed yet',
  }),
  since: Timestamp,
  cause: orNull(Type.String()),
  muted: orNull(
    Type.Object(
      {
        kind: Type.Enum(['check', 'host', 'agent'], {
          description:
            'check: that check is down; host: the agent of that host is offline; agent: so is the one that would probe',
        }),
        name: Type.String(),
        since: Timestamp,
      },
      { description: 'Why its alert is held back: what it stands on is down; null: it is not' },
    ),
  ),
  readings: Type.Array(PlaceReading, { description: 'The last reading of each place' }),
  picture: orNull(
    Type.Object(
      { at: Timestamp, place: Type.String() },
      { description: 'What the browser showed when a step last failed; null: none is kept' },
    ),
  ),
  hours: Type.Array(orNull(Type.Number()), {
    description:
      'Share of time up in each of the last 24 hours, oldest first; null: nothing was measured in that hour',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type CheckShown = Static<typeof CheckShown>;

const Ratio = orNull(
  Type.Number({ description: 'Share of the measured time in which they were up' }),
);
export const GroupShown = Type.Object({
  group: Type.String({ description: 'Empty: checks without a group' }),
  state: Type.Enum(['up', 'down', 'stale', 'waiting', 'paused'], {
    description: 'The worst state of its checks',
  }),
  checks: Type.Integer(),
  down: Type.Array(Type.String(), { description: 'Names of the checks that are down' }),
  uptime: Type.Object({ day: Ratio, week: Ratio, month: Ratio, year: Ratio }),
});
export type GroupShown = Static<typeof GroupShown>;

export const BadgeAsked = Type.Object({
  show: Type.Enum(['state', 'uptime'], { default: 'state' }),
  days: Type.Integer({
    minimum: 1,
    maximum: 365,
    default: 30,
    description: 'Number of days that the uptime is about',
  }),
  label: Type.Optional(
    Type.String({ maxLength: 60, description: 'Text on the left; default: the name' }),
  ),
});
export type BadgeAsked = Static<typeof BadgeAsked>;

export const UptimeSpan = Type.Object({
  begins_at: Timestamp,
  up_ms: Type.Integer(),
  down_ms: Type.Integer(),
  stale_ms: Type.Integer({ description: 'Too few places could probe' }),
  maintenance_ms: Type.Integer({
    description: 'Covered by a silence on its labels that was created before it went down',
  }),
  away_ms: Type.Integer({ description: 'svc was not running, or the check was paused' }),
});
export const Uptime = Type.Object({
  ratio: orNull(
    Type.Number({
      description: 'Share of the measured time in which it was up; null: nothing was measured',
    }),
  ),
  measured_ms: Type.Integer(),
  spans: Type.Array(UptimeSpan, {
    description: 'By hour (UTC) for up to 7 days, otherwise by day',
  }),
  changes: Type.Array(
    Type.Object({
      at: Timestamp,
      state: Type.String(),
      cause: orNull(Type.String()),
      places: Type.Array(Type.String(), { description: 'Places that failed' }),
    }),
    { description: 'Newest first, at most 100' },
  ),
});
export type Uptime = Static<typeof Uptime>;

export const Tried = Type.Object({
  success: Type.Boolean(),
  readings: Type.Array(PlaceReading),
});
export type Tried = Static<typeof Tried>;
