import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import { NewValue, Revealed, SettingAddress, SettingItem } from './schema.ts';
import { nameOf } from './setting-name.ts';
import type { SystemSettings } from './settings.ts';

const path = '/api/v1/system-settings/{category}/{key}';

export const settingRoutes = (settings: SystemSettings): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/system-settings',
    access: 'any',
    summary: 'List settings: current values and their sources, secrets masked',
    description: 'Administrators see all settings; others see those declared visible to them.',
    items: SettingItem,
    handle({ principal, page: { limit, after } }) {
      const all = settings.list(principal);
      const rest =
        after === undefined ? all : all.filter((item) => nameOf(item) > String(after[0]));
      const items = rest.slice(0, limit);
      return {
        items,
        total: all.length,
        next: rest.length > items.length ? [nameOf(items.at(-1)!)] : undefined,
      };
    },
  }),
  route({
    method: 'PUT',
    path,
    ifMatch: true,
    access: 'admin',
    summary: 'Change a setting with immediate effect',
    description: 'If-Match takes the updated_at of the value to replace, in quotes.',
    params: SettingAddress,
    body: NewValue,
    response: SettingItem,
    action: 'setting:update',
    errors: ['not_found', 'conflict'],
    handle: (call) => settings.set(call.params, call.body.value, call),
  }),
  route({
    method: 'DELETE',
    path,
    ifMatch: true,
    access: 'admin',
    summary: 'Reset a setting to its file or default',
    params: SettingAddress,
    action: 'setting:delete',
    errors: ['not_found', 'conflict'],
    handle: (call) => settings.unset(call.params, call),
  }),
  route({
    method: 'GET',
    path: `${path}/reveal`,
    access: 'admin',
    summary: 'Reveal a masked secret; at most ten per minute',
    description:
      'Requires a sign-in within the last five minutes with no token refresh since; API tokens are not accepted.',
    params: SettingAddress,
    response: Revealed,
    audited: true,
    action: 'setting:reveal',
    errors: ['forbidden', 'not_found', 'conflict', 'rate_limited'],
    handle(call) {
      call.note({ resourceId: nameOf(call.params) });
      return settings.reveal(call.params, call.principal);
    },
  }),
];
