import { ConnectionAnswer, TrialBody } from 'svc/connection';
import { type Static, Type } from 'typebox';

import { HostRule } from './hosts/host-rule.ts';

const Timestamp = Type.String({ format: 'date-time' });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const Name = Type.String({
  pattern: '^[a-z][a-z0-9_-]{0,39}$',
  examples: ['prod'],
  description: 'Cannot be changed.',
});

const Url = Type.String({
  pattern: '^https?://[^\\s?#@]+$',
  maxLength: 500,
  examples: ['https://prometheus.example.org'],
  description: 'Base URL of the server: the part before /api/v1.',
});

const { url: _url, ...credentials } = TrialBody.properties;

const reading = {
  host_rules: Type.Optional(
    Type.Array(HostRule, {
      maxItems: 20,
      description:
        'Rules that derive host names from labels; the first match wins. They are tried before the built-in ones: host.name, host_name, nodename, instance without its port, instance.',
    }),
  ),
  copied: Type.Optional(
    Type.Array(
      Type.String({ minLength: 1, maxLength: 1_000, examples: ['{__name__=~"mysql_.+"}'] }),
      {
        maxItems: 50,
        description:
          'Selectors for additional series to copy, for use in svc rules and dashboards; series of a known host get its device_id.',
      },
    ),
  ),
};

export const ByName = Type.Object({ name: Type.String({ maxLength: 40 }) });
export const StoreDraft = Type.Object({
  name: Name,
  url: Url,
  ...credentials,
  ...reading,
  history: Type.Optional(
    Type.String({
      pattern: '^(?:0|[1-9]\\d{0,2}[hd])$',
      examples: ['7d'],
      description:
        'How much of the history of the hosts to copy as well, at most 30d; default: none. Current values follow once it is copied.',
    }),
  ),
});
export type StoreDraft = Static<typeof StoreDraft>;
export const StoreTrial = Type.Object({ url: Url, ...credentials, ...reading });
export type StoreTrial = Static<typeof StoreTrial>;
export const StoreChange = Type.Object({ url: Type.Optional(Url), ...credentials, ...reading });
export type StoreChange = Static<typeof StoreChange>;

const HistoryShown = Type.Object({
  state: Type.Enum(['copying', 'done', 'incomplete']),
  from: Timestamp,
  to: Timestamp,
  through: Type.String({ format: 'date-time', description: 'End of the part that is copied' }),
  percent: Type.Integer(),
  samples: Type.Integer(),
  detail: Type.String({ description: 'Why it is shorter than requested, or incomplete' }),
});

export const StoreShown = Type.Object({
  name: Type.String(),
  url: Type.String(),
  has_credentials: Type.Boolean(),
  host_rules: Type.Array(HostRule),
  copied: Type.Array(Type.String()),
  state: Type.Enum(['ok', 'failing', 'waiting'], { description: 'waiting: not read yet' }),
  detail: Type.String(),
  failing_since: orNull(Timestamp),
  read_at: orNull(Timestamp),
  hosts: Type.Integer({ description: 'Number of hosts found when the store was last read' }),
  series: Type.Integer({ description: 'Number of series copied when the store was last read' }),
  read_ms: Type.Number({ description: 'Duration of the last read, in milliseconds' }),
  history: orNull(HistoryShown),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type StoreShown = Static<typeof StoreShown>;

export const Preview = Type.Object({
  test: ConnectionAnswer,
  hosts: Type.Array(
    Type.Object({
      name: Type.String(),
      by: Type.String({ description: 'Label that the host name comes from' }),
      instances: Type.Array(Type.String()),
      online: Type.Boolean(),
      device_id: orNull(
        Type.Integer({ description: 'Existing device for this host; null: a new one is created' }),
      ),
      device_name: orNull(Type.String()),
      has_agent: Type.Boolean({
        description:
          "Whether an agent watches the device; if so, the agent's metrics are used instead of this store's",
      }),
      series: orNull(Type.Integer()),
    }),
  ),
  host_count: Type.Integer(),
  rules: Type.Array(Type.Object({ label: Type.String(), hosts: Type.Integer() }), {
    description: 'Number of hosts found through each label',
  }),
  series: orNull(
    Type.Integer({ description: 'null if the server did not return the count in time' }),
  ),
  series_without_host: orNull(Type.Integer()),
  without_host: Type.Array(
    Type.Object({ job: Type.String(), instance: Type.String(), series: Type.Integer() }),
    { description: 'The largest targets whose series have no host label' },
  ),
});
export type Preview = Static<typeof Preview>;
