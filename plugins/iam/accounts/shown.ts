import { timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import type { Role as KnownRole } from '../policy/policy.ts';
import type { OrgRow } from '../store/org-store.ts';
import type { UserRow } from '../store/user-store.ts';
import type { Org, Role, User } from './schema.ts';

const instant = (ms: number | null | undefined): string | null =>
  typeof ms === 'number' ? timestamp(ms) : null;

export const shownUser = ({
  id,
  email,
  display_name,
  role,
  status,
  created_at,
  updated_at,
  last_login_at,
}: UserRow): Static<typeof User> => ({
  id,
  email,
  display_name,
  role,
  status,
  created_at: timestamp(created_at),
  updated_at: timestamp(updated_at),
  last_login_at: instant(last_login_at),
});

export const shownOrg = ({
  id,
  name,
  description,
  parent_id,
  device_selector,
  created_at,
  updated_at,
}: OrgRow): Static<typeof Org> => ({
  id,
  name,
  description,
  parent_id,
  device_selector,
  created_at: timestamp(created_at),
  updated_at: timestamp(updated_at),
});

export const shownRole = ({
  name,
  description,
  grants,
  builtin,
  created_at,
  updated_at,
}: KnownRole): Static<typeof Role> => ({
  name,
  description,
  grants: [...grants],
  builtin,
  created_at: instant(created_at),
  updated_at: instant(updated_at),
});
