import { Ajv } from 'ajv';
import { type Static, Type } from 'typebox';

const Text = Type.String({ maxLength: 1_000 });

/** Answer of an agent about what its machine serves, within bounds: the word of an outsider. */
const Finding = Type.Object({
  listeners: Type.Array(
    Type.Object({
      address: Type.String({ maxLength: 60, pattern: '^[0-9a-f.:]+$' }),
      port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    }),
    { maxItems: 300 },
  ),
  sites: Type.Array(
    Type.Object({
      server: Type.String({ pattern: '^(?:nginx|caddy)$' }),
      url: Type.String({ maxLength: 300, pattern: '^https?://[a-z0-9.-]+(?::\\d{1,5})?/$' }),
    }),
    { maxItems: 500 },
  ),
  certificates: Type.Array(
    Type.Object({
      names: Type.Array(Type.String({ maxLength: 253, pattern: '^[a-z0-9.-]+$' }), {
        maxItems: 50,
      }),
    }),
    { maxItems: 200 },
  ),
  containers: Type.Array(
    Type.Object({
      name: Type.String({ maxLength: 200 }),
      labels: Type.Record(Type.String({ maxLength: 210 }), Text, { maxProperties: 40 }),
    }),
    { maxItems: 100 },
  ),
  notes: Type.Array(Text, { maxItems: 1_000 }),
});
export type Finding = Static<typeof Finding>;

/** Returns whether an answer of an agent has that form. */
export const isFinding = new Ajv({ strict: false, logger: false }).compile<Finding>(Finding);
