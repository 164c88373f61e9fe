import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import { type Authority, shellAction } from '../rights/authority.ts';
import type { HostKeys } from '../ssh/host-keys.ts';
import { AcceptBody, DeviceParams, HostKeyItem } from './schema.ts';

const path = '/api/v1/webshell/host-keys';

export const hostKeyRoutes = (
  hostKeys: HostKeys,
  authority: Authority,
): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: shellAction,
    devices: 'narrowed',
    summary: 'List trusted SSH host keys, and the keys that were refused',
    items: HostKeyItem,
    handle: async ({ principal, page }) => hostKeys.list(await authority.seenBy(principal), page),
  }),
  route({
    method: 'POST',
    path: `${path}/{device_id}/accept`,
    access: 'admin',
    summary: 'Trust the SSH host key that was last refused',
    params: DeviceParams,
    body: AcceptBody,
    response: HostKeyItem,
    status: 200,
    action: 'webshell:accept-host-key',
    errors: ['not_found', 'conflict'],
    async handle(call) {
      const { params, body } = call;
      const change = await hostKeys.accept(params.device_id, body.fingerprint);
      call.note({ resourceType: 'device', resourceId: params.device_id, ...change });
      return change.after;
    },
  }),
  route({
    method: 'DELETE',
    path: `${path}/{device_id}`,
    access: 'admin',
    summary: "Remove a device's SSH host key; the next one it presents is trusted",
    params: DeviceParams,
    action: 'webshell:forget-host-key',
    errors: ['not_found'],
    async handle(call) {
      const { params } = call;
      call.note({
        resourceType: 'device',
        resourceId: params.device_id,
        before: await hostKeys.forget(params.device_id),
      });
    },
  }),
];
