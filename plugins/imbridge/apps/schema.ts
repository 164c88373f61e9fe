import { type Static, Type } from 'typebox';

const Timestamp = Type.String({ format: 'date-time' });
const orNull = Type.Union([Type.String(), Type.Null()]);
const Secret = (what: string) =>
  Type.Optional(
    Type.Union([Type.String({ maxLength: 4_000 }), Type.Null()], {
      description: `${what}; send the mask to keep it; omit it or send null to remove it`,
    }),
  );
const Id = Type.String({ minLength: 1, maxLength: 64 });

export const ById = Type.Object({ id: Id });
export const ByProvider = Type.Object({ provider: Type.String({ minLength: 1, maxLength: 40 }) });

/** The app, and what the platform adds. */
export const CallbackQuery = Type.Record(
  Type.String({ maxLength: 100 }),
  Type.String({ maxLength: 4_000 }),
  { maxProperties: 20 },
);

export const AppDraft = Type.Object(
  {
    provider: Type.String({
      minLength: 1,
      maxLength: 40,
      description: 'feishu, slack, telegram, dingtalk, wecom, or one added by a plugin',
    }),
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
    app_id: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^\\S+$',
      examples: ['cli_a1b2c3'],
    }),
    app_secret: Secret('Credential for sending messages'),
    verify_token: Secret('Credential that callbacks carry, or that opens a stream'),
    encrypt_key: Secret('Key that callbacks are signed or encrypted with'),
    allow_from: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 500,
        description:
          'Ids of senders and conversations that are answered without a linked account; * means all',
      }),
    ),
    default_agent: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()]),
    ),
    default_role: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Role for senders without a linked account. Default: viewer',
      }),
    ),
    locale: Type.Optional(Type.Enum(['en', 'zh'])),
    mode: Type.Optional(
      Type.Enum(['callback', 'stream'], {
        description:
          'Whether the platform calls svc (callback, the default) or svc connects to the platform (stream), which requires no public address',
      }),
    ),
    endpoint: Type.Optional(
      Type.String({
        maxLength: 500,
        pattern: '^(https?://[^\\s?#]+)?$',
        examples: ['https://chat.example.org'],
        description: 'Base URL of the API, if not the default one',
      }),
    ),
    enabled: Type.Optional(Type.Boolean()),
  },
  {
    examples: [
      {
        provider: 'slack',
        name: 'on call',
        app_id: 'A0EXAMPLE',
        app_secret: 'xoxb-1-2-example',
        encrypt_key: 'example',
      },
    ],
  },
);
export type Draft = Static<typeof AppDraft>;

export const AppShown = Type.Object({
  id: Type.String(),
  provider: Type.String(),
  name: Type.String(),
  app_id: Type.String(),
  app_secret: orNull,
  verify_token: orNull,
  encrypt_key: orNull,
  allow_from: Type.Array(Type.String()),
  default_agent: orNull,
  default_role: Type.String(),
  locale: Type.String(),
  mode: Type.Enum(['callback', 'stream']),
  endpoint: Type.String(),
  enabled: Type.Boolean(),
  callback_url: Type.String({ description: "URL to enter in the platform's settings" }),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const Revealed = Type.Object({
  app_secret: orNull,
  verify_token: orNull,
  encrypt_key: orNull,
});

export const LinkShown = Type.Object({
  id: Type.String(),
  app_id: Type.String(),
  app_name: Type.String(),
  provider: Type.String(),
  sender: Type.String(),
  sender_name: Type.String(),
  user_id: Type.Integer(),
  created_at: Timestamp,
});

export const LinkCode = Type.Object({
  code: Type.String({
    description: 'Valid once, for ten minutes: send /link followed by this code to the bot',
  }),
  expires_at: Timestamp,
});
