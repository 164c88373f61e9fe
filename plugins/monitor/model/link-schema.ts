import { Type } from 'typebox';

import { RenderedDashboard, RenderedPanel } from './rendered-schema.ts';
import { Uid, VariableName } from './schema.ts';

const day = 86_400;
const Instant = Type.String({ format: 'date-time' });
const Note = Type.String({ maxLength: 200, description: 'Whom the link is for' });
const RangeSeconds = Type.Integer({
  minimum: 60,
  maximum: 90 * day,
  description: 'Length of the time range that is shown, up to the current time',
});

export const NewLink = Type.Object({
  expires_in_s: Type.Integer({ minimum: 300, maximum: 90 * day }),
  range_s: RangeSeconds,
  note: Type.Optional(Note),
  variables: Type.Optional(
    Type.Record(
      VariableName,
      Type.Array(Type.String({ maxLength: 200 }), { minItems: 1, maxItems: 50 }),
      { description: 'Values of variables, which readers cannot change' },
    ),
  ),
});

export const LinkItem = Type.Object({
  id: Type.Integer(),
  dashboard_uid: Uid,
  note: Note,
  range_s: RangeSeconds,
  made_by: Type.String(),
  made_at: Instant,
  expires_at: Instant,
  opened_at: Type.Union([Instant, Type.Null()], { description: 'When its data was last loaded' }),
});

export const MadeLink = Type.Object({
  ...LinkItem.properties,
  token: Type.String({ description: 'Secret part of the address; it is shown only once' }),
  path: Type.String({ description: 'Path of the page in the console' }),
});

export const LinkQuery = Type.Object({ dashboard_uid: Type.Optional(Uid) });
export const LinkId = Type.Object({ id: Type.Integer({ minimum: 1 }) });
export const LinkToken = Type.Object({
  token: Type.String({
    pattern: '^[A-Za-z0-9_-]{20,100}$',
    examples: ['Yk3nX0pQmV7sLw2aTz9dRb5cHf8gJe1u'],
  }),
});

const drawn = RenderedPanel.properties;
const Problem = Type.Optional(Type.Object({ message: Type.String() }));

/** A panel as it is drawn. */
const SharedPanel = Type.Object({
  title: drawn.title,
  type: drawn.type,
  unit: drawn.unit,
  thresholds: drawn.thresholds,
  position: drawn.position,
  description: drawn.description,
  display: drawn.display,
  mappings: drawn.mappings,
  content: drawn.content,
  row: drawn.row,
  folded: drawn.folded,
  data: drawn.data,
  table: drawn.table,
  series_left_out: drawn.series_left_out,
  error: Problem,
  missing: Problem,
});

/** A dashboard for a reader without an account: what is drawn, and nothing of how it was asked for. */
export const SharedDashboard = Type.Object({
  title: RenderedDashboard.properties.title,
  from: Instant,
  to: Instant,
  expires_at: Instant,
  variables: Type.Array(Type.Object({ title: Type.String(), value: Type.String() })),
  panels: Type.Array(SharedPanel),
});
