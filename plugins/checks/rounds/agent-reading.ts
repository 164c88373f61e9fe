import { Ajv } from 'ajv';
import { maxPicture, maxSteps, type Reading } from 'svc/check';
import { Type } from 'typebox';

const Text = Type.String({ maxLength: 16_384 });
const OrNull = Type.Union([Text, Type.Null()]);
const Milliseconds = Type.Number({ minimum: 0, maximum: 86_400_000 });
const Moment = Type.Number({ minimum: -8.64e15, maximum: 8.64e15 });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Answer of an agent to a probe, within bounds: the word of an outsider. */
const AgentReading = Type.Object({
  success: Type.Boolean(),
  cause: OrNull,
  facts: Type.Object({
    connected: Type.Boolean(),
    error: OrNull,
    took_ms: Milliseconds,
    phases: Type.Object(
      Object.fromEntries(
        [
          'resolve',
          'connect',
          'proxy',
          'tls',
          'greeting',
          'login',
          'processing',
          'transfer',
          'request',
          'rtt',
        ].map((phase) => [phase, Type.Optional(Milliseconds)]),
      ),
    ),
    address: Type.Optional(Text),
    status: Type.Optional(Type.Integer()),
    http_version: Type.Optional(Text),
    redirects: Type.Optional(Count),
    final_url: Type.Optional(Text),
    body_bytes: Type.Optional(Count),
    content_length: Type.Optional(Count),
    certificate: Type.Optional(
      Type.Object({
        expires_at: Moment,
        subject: OrNull,
        issuer: OrNull,
        names: OrNull,
        serial: OrNull,
        protocol: OrNull,
        problem: OrNull,
      }),
    ),
    domain_expires_at: Type.Optional(Moment),
    banner: Type.Optional(Text),
    detail: Type.Optional(Text),
    measured: Type.Optional(
      Type.Array(
        Type.Object({
          label: Type.String({ maxLength: 100 }),
          value: Type.Number(),
          unit: Type.String({ maxLength: 100 }),
        }),
        { maxItems: 50 },
      ),
    ),
    rcode: Type.Optional(Text),
    steps: Type.Optional(
      Type.Array(
        Type.Object({
          step: Text,
          state: Type.Enum(['done', 'failed', 'not_reached']),
          took_ms: Type.Union([Milliseconds, Type.Null()]),
        }),
        { maxItems: maxSteps + 1 },
      ),
    ),
    // Base64 of a JPEG.
    picture: Type.Optional(
      Type.String({ maxLength: maxPicture, pattern: '^/9j/[A-Za-z0-9+/]*={0,2}$' }),
    ),
    answers: Type.Optional(Type.Array(Text, { maxItems: 50 })),
  }),
  findings: Type.Array(Type.Object({ condition: Text, holds: Type.Boolean(), found: Text }), {
    maxItems: 200,
  }),
});

/** Returns whether an answer of an agent has that form; what else it says is taken off. */
export const isReading = new Ajv({
  strict: false,
  logger: false,
  removeAdditional: 'all',
}).compile<Reading>(AgentReading);
