import { type Static, Type } from 'typebox';

const Timestamp = Type.String({ format: 'date-time' });
const Severity = Type.Enum(['info', 'warning', 'critical']);
const Key = Type.String({
  pattern: '^[a-z][a-z0-9_-]{0,39}$',
  examples: ['datacenter'],
  description: 'for good: the rule of each of its incidents is called key/name of the alert',
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
        description: 'labels that tell incidents of one alert apart; instance when it is not given',
      },
    ),
  ),
  default_severity: Type.Optional(
    Type.Enum(['info', 'warning', 'critical'], {
      description: 'of alerts whose label severity says nothing known; warning',
    }),
  ),
  unheard_after: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,4}[mhd]$',
      examples: ['15m'],
      description: 'resolve alerts that are not re-sent for this long; 1d',
    }),
  ),
  signing_secret: Type.Optional(
    Type.String({
      maxLength: 500,
      description:
        'requests must be signed with it, as Grafana does; send the mask to keep it, leave it out to remove it',
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
  url: Type.String({ description: 'where it tells its alerts; shown this once' }),
});

export const Taken = Type.Object({
  firing: Type.Integer(),
  resolved: Type.Integer(),
  skipped: Type.Integer({ description: 'alerts that could not be read' }),
  left_out: Type.Integer({
    description: 'alerts dropped at the limit of 10,000 firing alerts a source',
  }),
});
