import { covers, listRoute, type Principal, route, type RouteDeclaration } from 'svc/sdk';

import type { Devices } from './devices.ts';
import {
  Cells,
  CellsQuery,
  DeviceEdge,
  DeviceEdgeId,
  DeviceId,
  DeviceItem,
  DevicePatch,
  DeviceQuery,
  FoundDevice,
  Groups,
  GroupsQuery,
  RolesPatch,
  SearchQuery,
} from './schema.ts';
import { tagOf } from './scopes.ts';
import type { FoundDevices } from './found-devices.ts';

const path = '/api/v1/devices';
const accept = 'device:accept';

export const deviceRoutes = (devices: Devices): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    summary: 'List devices, newest first',
    query: DeviceQuery,
    items: DeviceItem,
    handle: ({ query: { id, q, tag = [], role = [], online }, page, principal }) =>
      devices.list(principal, { ids: id, q, tags: tag.map(tagOf), roles: role, online }, page),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get a device',
    params: DeviceId,
    response: DeviceItem,
    errors: ['not_found'],
    handle: ({ params, principal }) => devices.get(principal, params.id),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'device:update',
    devices: 'narrowed',
    brief: ['id'],
    summary: 'Rename a device, or replace its tags',
    params: DeviceId,
    body: DevicePatch,
    response: DeviceItem,
    errors: ['not_found', 'conflict'],
    handle: (call) => devices.update(call, call.params.id, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'device:delete',
    devices: 'narrowed',
    summary: 'Delete a device that has no connected edge, and its host node',
    params: DeviceId,
    errors: ['not_found', 'conflict'],
    handle: (call) => devices.remove(call, call.params.id),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}/roles`,
    ifMatch: true,
    access: 'device:update',
    devices: 'narrowed',
    brief: ['id'],
    summary: 'Replace the roles of a device, such as db, web or cache',
    params: DeviceId,
    body: RolesPatch,
    response: DeviceItem,
    action: 'device:update',
    errors: ['not_found', 'conflict'],
    handle: (call) => devices.setRoles(call, call.params.id, call.body.roles),
  }),
];

/** Devices by one search, for pages that show thousands. */
export const searchRoutes = (found: FoundDevices): readonly RouteDeclaration[] => [
  listRoute({
    path: `${path}/search`,
    access: 'any',
    devices: 'narrowed',
    readsAsked: ['metricsdb'],
    summary: 'Search devices by name, role, tag, system, figures and alerts, sorted by any column',
    query: SearchQuery,
    items: FoundDevice,
    errors: ['unavailable'],
    handle: ({ query, page, principal, requireRead }) =>
      found.page({ principal, requireRead }, query, page),
  }),
  route({
    method: 'GET',
    path: `${path}/groups`,
    access: 'any',
    devices: 'narrowed',
    readsAsked: ['metricsdb'],
    summary: 'Group the devices that a search finds, with the health of each group',
    query: GroupsQuery,
    response: Groups,
    errors: ['unavailable'],
    handle: ({ query: { search = '', by }, principal, requireRead }) =>
      found.groups({ principal, requireRead }, search, by),
  }),
  route({
    method: 'GET',
    path: `${path}/cells`,
    access: 'any',
    devices: 'narrowed',
    readsAsked: ['metricsdb'],
    summary:
      'Get the state, or a figure, of each device that a search finds, for maps of thousands',
    query: CellsQuery,
    response: Cells,
    errors: ['unavailable'],
    handle: ({ query: { search = '', figure }, principal, requireRead }) =>
      found.cells({ principal, requireRead }, search, figure),
  }),
];

/** Which edges watch a device, and which machine it is. */
export const watcherRoutes = (devices: Devices): readonly RouteDeclaration[] => [
  listRoute({
    path: `${path}/{id}/edges`,
    access: 'any',
    devices: 'narrowed',
    summary: 'List the edges that watch or claim a device',
    params: DeviceId,
    items: DeviceEdge,
    errors: ['not_found'],
    handle: ({ params, page, principal }) =>
      devices.edges(principal, params.id, page, tellsMachinesApart(principal)),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/edges/{edge_id}/accept`,
    access: accept,
    devices: 'narrowed',
    brief: ['id'],
    summary: 'Accept the unverified machine behind an edge as this device',
    description:
      'For a machine that was reinstalled or lost its key. Offline edges that watched the device are detached; if an edge that watches it is online, the request fails with a conflict.',
    params: DeviceEdgeId,
    response: DeviceItem,
    status: 200,
    action: accept,
    errors: ['not_found', 'conflict'],
    handle: (call) => devices.accept(call, call.params.id, call.params.edge_id),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}/edges/{edge_id}`,
    access: 'device:delete',
    devices: 'narrowed',
    summary: 'Detach an edge from a device',
    description:
      'The edge itself is kept, and is matched to a device again when it next connects. The device is not assigned to another edge.',
    params: DeviceEdgeId,
    action: 'device:detach',
    errors: ['not_found', 'conflict'],
    handle: (call) => devices.detach(call, call.params.id, call.params.edge_id),
  }),
];

const tellsMachinesApart = ({ grants }: Principal): boolean =>
  grants.some((grant) => covers(grant, accept));
