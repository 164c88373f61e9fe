import { Type } from 'typebox';

import { longestPassword, shortestPassword } from '../passwords/password-rules.ts';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const Timestamp = Type.String({ format: 'date-time' });
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Line = { maxLength: 100, pattern: '^\\P{Cc}*$' };
const DisplayName = Type.String({
  ...Line,
  description: 'Default: derived from the e-mail address',
});
const Email = Type.String({
  minLength: 3,
  maxLength: 300,
  description: 'Trimmed and lower-cased; unique',
  examples: ['ada@example.org'],
});
const Password = Type.String({
  minLength: shortestPassword,
  maxLength: longestPassword,
  format: 'password',
  description: 'Must not be the e-mail address',
});
const RoleName = Type.String({
  pattern: '^[a-z][a-z0-9_-]{1,39}$',
  examples: ['oncall'],
  description: 'admin, user, viewer or a custom role',
});
const Status = Type.Enum(['active', 'disabled']);
const OrgRole = Type.Enum(['org_admin', 'member', 'viewer']);
const Grant = Type.String({
  maxLength: 100,
  description: 'An action such as edge:create, or a whole area such as edge:*',
});

export const UserId = Type.Object({ id: Id });
export const OrgId = Type.Object({ id: Id });
export const MemberId = Type.Object({ id: Id, user_id: Id });
export const RoleKey = Type.Object({ name: RoleName });

export const User = Type.Object({
  id: Id,
  email: Type.String(),
  display_name: Type.String(),
  role: Type.String(),
  status: Status,
  created_at: Timestamp,
  updated_at: Timestamp,
  last_login_at: orNull(Timestamp),
});

export const UserQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only users whose e-mail address or name contains this text',
    }),
  ),
  role: Type.Optional(RoleName),
  status: Type.Optional(Status),
  org_id: Type.Optional(Id),
});

export const UserDraft = Type.Object({
  email: Email,
  password: Password,
  display_name: Type.String({ ...DisplayName, default: '' }),
  role: Type.String({ ...RoleName, default: 'viewer' }),
});

export const UserPatch = Type.Object(
  {
    email: Type.Optional(Email),
    display_name: Type.Optional(Type.String({ ...Line, minLength: 1 })),
    status: Type.Optional(Status),
  },
  { minProperties: 1 },
);

export const RolePatchOfUser = Type.Object({ role: RoleName });

export const PasswordPatch = Type.Object({
  password: Password,
  current_password: Type.Optional(
    Type.String({
      maxLength: longestPassword,
      format: 'password',
      description: 'Required to change your own password',
    }),
  ),
});

export const Me = Type.Object({
  kind: Type.String({ description: 'user, token, operator or another kind of caller' }),
  id: Type.Union([Id, Type.String()], {
    description: 'User id; for other kinds of callers, the name',
  }),
  email: orNull(Type.String()),
  display_name: Type.String(),
  role: Type.String(),
  status: Status,
  memberships: Type.Array(Type.Object({ org_id: Id, name: Type.String(), role: OrgRole })),
  grants: Type.Array(Type.String(), {
    description:
      'What the caller may do beyond reading: actions, areas such as edge:*, or * for everything',
  }),
  device_selectors: orNull(
    Type.Array(Type.String(), {
      description: 'Selectors for the devices that the caller sees; null: all devices',
    }),
  ),
  created_at: orNull(Timestamp),
  updated_at: orNull(Timestamp),
  last_login_at: orNull(Timestamp),
});

/** Letters that device tags and roles are made of; a comma ends a term. */
const tagKey = '[A-Za-z0-9][A-Za-z0-9_./-]{0,62}';
const term = `(role:[A-Za-z0-9][A-Za-z0-9_.-]{0,62}|${tagKey}(=[^,]{0,255})?)`;
const Selector = orNull(
  Type.String({
    maxLength: 1_000,
    pattern: `^(\\*|${term}(,${term}){0,9})$`,
    examples: ['customer=acme'],
    description:
      'Selector for the devices that its members see: customer=acme, a tag with any value (rented), role:db, or several separated by commas, all of which must match; * or null: all',
  }),
);

export const Org = Type.Object({
  id: Id,
  name: Type.String(),
  description: Type.String(),
  parent_id: orNull(Id),
  device_selector: orNull(
    Type.String({ description: 'Selector for the devices that its members see; null: all' }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const OrgQuery = Type.Object({
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only organizations whose name contains this text',
    }),
  ),
});

const OrgName = Type.String({
  ...Line,
  minLength: 1,
  pattern: '^(?=.*\\S)\\P{Cc}*$',
  description: 'Unique, ignoring case',
});
const ParentId = orNull(Id);
const Description = Type.String({ maxLength: 1_000 });

export const OrgDraft = Type.Object({
  name: OrgName,
  description: Type.String({ ...Description, default: '' }),
  parent_id: Type.Optional(ParentId),
  device_selector: Type.Optional(Selector),
});

export const OrgPatch = Type.Object(
  {
    name: Type.Optional(OrgName),
    description: Type.Optional(Description),
    parent_id: Type.Optional(ParentId),
    device_selector: Type.Optional(Selector),
  },
  { minProperties: 1 },
);

export const Member = Type.Object({
  user_id: Id,
  email: Type.String(),
  display_name: Type.String(),
  role: OrgRole,
});
export const MemberDraft = Type.Object({ user_id: Id, role: Type.Optional(OrgRole) });
export const MemberPatch = Type.Object({ role: OrgRole });

export const Role = Type.Object({
  name: Type.String(),
  description: Type.String(),
  grants: Type.Array(Type.String()),
  builtin: Type.Boolean({
    description: 'Built-in roles can be changed only with the setting policy.roles',
  }),
  created_at: orNull(Timestamp),
  updated_at: orNull(Timestamp),
});

const Grants = Type.Array(Grant, { maxItems: 200, uniqueItems: true });

export const RoleDraft = Type.Object({
  name: RoleName,
  description: Type.String({ ...Description, default: '' }),
  grants: Grants,
});
export const RolePatch = Type.Object(
  { description: Type.Optional(Description), grants: Type.Optional(Grants) },
  { minProperties: 1 },
);

export const Action = Type.Object({
  action: Type.String(),
  description: Type.String(),
  plugin: Type.String(),
});

export const ExplainQuery = Type.Object({
  action: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'A declared action, or admin, or any',
    examples: ['admin'],
  }),
  user_id: Type.Optional(Id),
});

export const Explained = Type.Object({
  user_id: Id,
  email: Type.String(),
  display_name: Type.String(),
  role: Type.String(),
  status: Status,
  allowed: Type.Boolean(),
  via: orNull(Type.Enum(['account', 'role', 'membership'])),
  grant: orNull(Type.String({ description: 'The grant that matched' })),
  org_id: orNull(Id),
  reason: Type.String({ description: 'The explanation as a sentence' }),
});
