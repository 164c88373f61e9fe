import { type Static, type TSchema, Type } from 'typebox';

const Timestamp = Type.String({ format: 'date-time' });
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/**
 * Login with bounded fields only: a malformed one must be indistinguishable from a wrong password.
 */
const Login = {
  email: Type.String({ minLength: 1, maxLength: 320 }),
  password: Type.String({ minLength: 1, maxLength: 1024, format: 'password' }),
};
const Account = {
  email: Type.String({
    maxLength: 320,
    pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$',
    description: 'Trimmed and lower-cased',
    examples: ['ada@example.org'],
  }),
  password: Type.String({
    minLength: 1,
    maxLength: 1024,
    format: 'password',
    description: 'At least 10 characters, and not the e-mail address',
  }),
  display_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Default: the part of the e-mail address before @',
    }),
  ),
};

/** Option of pages: keep it in a cookie that scripts cannot read. */
const Kept = {
  cookie: Type.Optional(
    Type.Boolean({
      description: 'true: put the refresh token in a browser cookie instead of the response',
    }),
  ),
};

export const LoginBody = Type.Object({ ...Login, ...Kept });
export const RefreshBody = Type.Object({
  refresh_token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'Omitted by browser pages, which send it in a cookie',
    }),
  ),
});
export const RegisterBody = Type.Object(Account);
export const SetupBody = Type.Object({
  token: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Setup token from the startup banner or the data folder',
  }),
  ...Account,
  ...Kept,
});

export const UserShown = Type.Object({
  id: Type.Integer(),
  email: Type.String(),
  display_name: Type.String(),
  role: Type.String(),
  status: Type.Union([Type.Literal('active'), Type.Literal('disabled')]),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_login_at: orNull(Timestamp),
});

export const SignedInReply = Type.Object({
  access_token: Type.String({ description: 'Send it in the header Authorization: Bearer …' }),
  refresh_token: Type.Optional(
    Type.String({
      description:
        'Valid for one POST /api/v1/auth/refresh, which returns the next one; omitted for browser pages, which get it in a cookie',
    }),
  ),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Lifetime of the access token, in seconds' }),
  role: Type.String(),
  user: UserShown,
});

export const OfUser = Type.Object({
  user_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'For administrators: id of another user. Default: yourself',
    }),
  ),
});

export const SessionId = Type.Object({ id: Type.String({ format: 'uuid' }) });

export const SessionShown = Type.Object({
  id: Type.String(),
  user_id: Type.Integer(),
  ip: Type.String({ description: 'IP address of the sign-in' }),
  user_agent: Type.String(),
  current: Type.Boolean({ description: 'Whether this request belongs to the session' }),
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Timestamp,
});

export const TokenId = Type.Object({ id: Id });

const Action = Type.String({
  maxLength: 100,
  pattern: '^(\\*|webshell|[a-z][a-z0-9_-]*:(\\*|[a-z][a-z0-9_-]*))$',
  examples: ['edge:create'],
  description: 'An action such as edge:create, a whole area such as edge:*, or *',
});

export const NewToken = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100, description: 'Purpose of the token' }),
  expires_at: Type.String({ format: 'date-time', description: 'At most a year from now' }),
  actions: Type.Array(Action, {
    maxItems: 64,
    default: [],
    description: 'Only actions that you have yourself; reading requires none',
  }),
  user_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'User that the token acts as; only for the operator, who is not a user',
      examples: [1],
    }),
  ),
});

export const TokenShown = Type.Object({
  id: Type.Integer(),
  user_id: Type.Integer(),
  name: Type.String(),
  actions: Type.Array(Type.String()),
  created_at: Timestamp,
  expires_at: Timestamp,
  last_used_at: orNull(Timestamp),
});

export const TokenMade = Type.Object({
  ...TokenShown.properties,
  token: Type.String({ description: 'Shown once; only its hash is stored' }),
});

export type SignedInShape = Static<typeof SignedInReply>;
export type SessionShape = Static<typeof SessionShown>;
export type TokenShape = Static<typeof TokenShown>;
