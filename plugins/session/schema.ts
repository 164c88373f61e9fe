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
    description: 'trimmed and lower-cased',
    examples: ['ada@example.org'],
  }),
  password: Type.String({
    minLength: 1,
    maxLength: 1024,
    format: 'password',
    description: 'at least 10 characters, and not the e-mail',
  }),
  display_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'the e-mail up to its @ when left out',
    }),
  ),
};

/** Option of pages: keep it in a cookie that scripts cannot read. */
const Kept = {
  cookie: Type.Optional(
    Type.Boolean({
      description: 'true keeps the refresh token in a cookie of the browser and out of the answer',
    }),
  ),
};

export const LoginBody = Type.Object({ ...Login, ...Kept });
export const RefreshBody = Type.Object({
  refresh_token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'left out by a page, whose cookie brings it',
    }),
  ),
});
export const RegisterBody = Type.Object(Account);
export const SetupBody = Type.Object({
  token: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'from the start banner or the data folder',
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
  access_token: Type.String({ description: 'goes into the header Authorization: Bearer …' }),
  refresh_token: Type.Optional(
    Type.String({
      description:
        'good for one POST /api/v1/auth/refresh, which answers with the next one; not for pages',
    }),
  ),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'seconds the access token is good for' }),
  role: Type.String(),
  user: UserShown,
});

export const OfUser = Type.Object({
  user_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'another user, for administrators; yourself when left out',
    }),
  ),
});

export const SessionId = Type.Object({ id: Type.String({ format: 'uuid' }) });

export const SessionShown = Type.Object({
  id: Type.String(),
  user_id: Type.Integer(),
  ip: Type.String({ description: 'address of the login' }),
  user_agent: Type.String(),
  current: Type.Boolean({ description: 'the one this request was made in' }),
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Timestamp,
});

export const TokenId = Type.Object({ id: Id });

const Action = Type.String({
  maxLength: 100,
  pattern: '^(\\*|webshell|[a-z][a-z0-9_-]*:(\\*|[a-z][a-z0-9_-]*))$',
  examples: ['edge:create'],
  description: 'an action such as edge:create, a whole area such as edge:*, or *',
});

export const NewToken = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100, description: 'what it is for' }),
  expires_at: Type.String({ format: 'date-time', description: 'at most a year from now' }),
  actions: Type.Array(Action, {
    maxItems: 64,
    default: [],
    description: 'no more than you hold yourself; none of them is enough to read',
  }),
  user_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'for whom it acts; only for the operator, who is no user',
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
  token: Type.String({ description: 'shown this once; only its hash is kept' }),
});

export type SignedInShape = Static<typeof SignedInReply>;
export type SessionShape = Static<typeof SessionShown>;
export type TokenShape = Static<typeof TokenShown>;
