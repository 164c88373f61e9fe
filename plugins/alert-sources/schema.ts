import { type Static, Type } from 'typebox';

const Timestamp = Type.String({ format: 'date-time' });
const Severity = Type.Enum(['info', 'warning', 'critical']);
const Key = Type.String({
  pattern: '^[a-z][a-z0-9_-]{0,39}$',
  examples: ['datacenter'],
  description:
    'Cannot be changed later. The rule_key of each incident is this key, followed by a slash and the name of the alert.',
});

export const ById = Type.Object({ id: Type.Integer({ minimum: 1 }) });
/** Token of any length: what is wrong with an address is not revealed. */
export const ByToken = Type.Object({ token: Type.String() });
export const ByKey = Type.Object({ key: Type.String({ maxLength: 40 }) });

const settings = {
  dimensions: Type.Optional(
    Type.Array(
      Type.String({ pattern: '^[a-zA-Z_][a-zA-Z0-9_.]{0,199}$', examples: ['instance'] }),
      {
        maxItems: 8,
        uniqueItems: true,
        description: 'Labels that distinguish the incidents of one alert. Default: instance',
      },
    ),
  ),
  default_severity: Type.Optional(
    Type.Enum(['info', 'warning', 'critical'], {
      description: 'Severity for alerts with an unknown severity label. Default: warning',
    }),
  ),
  unheard_after: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,4}[mhd]$',
      examples: ['15m'],
      description: 'Resolve alerts that are not re-sent for this long. Default: 1d',
    }),
  ),
  signing_secret: Type.Optional(
    Type.String({
      maxLength: 500,
      description:
        "Secret that requests must be signed with, in Grafana's format. Send the mask to keep it; omit it to remove it.",
    }),
  ),
  enabled: Type.Optional(Type.Boolean()),
};

export const SourceDraft = Type.Object({ key: Key, ...settings });
export const SourceChange = Type.Object(settings);
export type SourceChange = Static<typeof SourceChange>;

const shown = {
  id: Type.Integer(),
  key: Type.String(),
  dimensions: Type.Array(Type.String()),
  default_severity: Severity,
  unheard_after: Type.String(),
  signing_secret: Type.Union([Type.String(), Type.Null()]),
  signed: Type.Boolean(),
  enabled: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const SourceShown = Type.Object(shown);
export const SourceMade = Type.Object({
  ...shown,
  url: Type.String({ description: "URL for the source's webhook. Shown once." }),
});

export const Taken = Type.Object({
  firing: Type.Integer(),
  resolved: Type.Integer(),
  skipped: Type.Integer({ description: 'Number of alerts that could not be parsed' }),
  left_out: Type.Integer({
    description: 'Number of alerts above the limit of 10,000 firing alerts per source',
  }),
});
