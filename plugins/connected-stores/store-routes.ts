import { listRoute, route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { ConnectedStores } from './connected-stores.ts';
import { ByName, Preview, StoreChange, StoreDraft, StoreShown, StoreTrial } from './schema.ts';
import { HostRule } from './hosts/host-rule.ts';

const path = '/api/v1/connected-stores';
const action = 'store:connect';
/** A large server takes long to count its series. */
const previewMs = 90_000;

export const storeRoutes = (stores: ConnectedStores): readonly RouteDeclaration[] => [
  ...connectionRoutes(stores),
  ...previewRoutes(stores),
];

const connectionRoutes = (stores: ConnectedStores): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List connected stores, newest first',
    items: StoreShown,
    handle: ({ page }) => stores.list(page),
  }),
  route({
    method: 'POST',
    path,
    access: action,
    reads: 'none',
    summary: 'Connect a Prometheus or VictoriaMetrics server and add its hosts as devices',
    description:
      'Only reads from the server. The hosts found in its series become devices, and their metrics are copied to the metrics store with a device_id, so that rules, pages and investigations can find them.',
    body: StoreDraft,
    response: StoreShown,
    timeoutMs: previewMs,
    errors: ['conflict', 'upstream_error'],
    handle: (call) => stores.connect(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${path}/{name}`,
    access: 'any',
    summary: 'Get a connected store',
    params: ByName,
    response: StoreShown,
    errors: ['not_found'],
    handle: ({ params }) => stores.get(params.name),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{name}`,
    ifMatch: true,
    access: action,
    brief: ['name'],
    summary: 'Change a connected store; its name does not change',
    description:
      'Omitted fields stay unchanged. Credentials are replaced as a whole, and are removed if the url changes.',
    params: ByName,
    body: StoreChange,
    response: StoreShown,
    timeoutMs: previewMs,
    errors: ['not_found', 'conflict', 'upstream_error'],
    handle: (call) => stores.change(call, call.params.name, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{name}`,
    ifMatch: true,
    access: action,
    summary: 'Disconnect a store; its devices are kept',
    params: ByName,
    errors: ['not_found', 'conflict'],
    handle: (call) => stores.disconnect(call, call.params.name),
  }),
];

/** Routes that ask the server, and change nothing there or here but what was read. */
const previewRoutes = (stores: ConnectedStores): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: `${path}/preview`,
    access: action,
    reads: 'none',
    summary: 'Preview the hosts of a server without connecting it',
    description:
      'If the server fails, the response has test.ok: false rather than an error status. Stored credentials are not sent.',
    body: StoreTrial,
    response: Preview,
    status: 200,
    timeoutMs: previewMs,
    audited: false,
    errors: ['upstream_error'],
    handle: (call) => stores.try(call.body, call),
  }),
  route({
    method: 'POST',
    path: `${path}/{name}/preview`,
    access: action,
    summary: 'Preview the hosts of a connected store, with its own host rules or different ones',
    params: ByName,
    body: Type.Object({ host_rules: Type.Optional(Type.Array(HostRule, { maxItems: 20 })) }),
    response: Preview,
    status: 200,
    timeoutMs: previewMs,
    audited: false,
    errors: ['not_found', 'upstream_error'],
    handle: (call) => stores.previewOf(call.params.name, call.body.host_rules, call),
  }),
  route({
    method: 'POST',
    path: `${path}/{name}/read`,
    access: action,
    brief: ['name'],
    summary: 'Read a connected store now',
    params: ByName,
    response: StoreShown,
    status: 200,
    timeoutMs: previewMs,
    action: 'connected_store:read',
    errors: ['not_found'],
    handle: ({ params }) => stores.readNow(params.name),
  }),
];
