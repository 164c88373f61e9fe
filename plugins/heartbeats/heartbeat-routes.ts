import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { Heartbeats } from './heartbeats.ts';
import {
  ByName,
  HeartbeatAddress,
  HeartbeatChange,
  HeartbeatDraft,
  HeartbeatMade,
  HeartbeatShown,
  Pings,
} from './heartbeat/heartbeat-schema.ts';

const path = '/api/v1/heartbeats';
const action = 'heartbeat:edit';

export const heartbeatRoutes = (heartbeats: Heartbeats): readonly RouteDeclaration[] => [
  ...definitionRoutes(heartbeats),
  ...reportRoutes(heartbeats),
];

const definitionRoutes = (heartbeats: Heartbeats): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List heartbeats by name',
    items: HeartbeatShown,
    handle: async ({ page }) => heartbeats.list(page),
  }),
  route({
    method: 'POST',
    path,
    access: action,
    summary: 'Create a heartbeat, with an address that a job reports to',
    description:
      'Set period_s for a job that runs at an interval, or cron and time_zone for one that a crontab starts. Reports are expected only after the first one has arrived.',
    body: HeartbeatDraft,
    response: HeartbeatMade,
    errors: ['conflict'],
    handle: (call) => heartbeats.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${path}/{name}`,
    access: 'any',
    summary: 'Get a heartbeat',
    params: ByName,
    response: HeartbeatShown,
    errors: ['not_found'],
    handle: async ({ params }) => heartbeats.get(params.name),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{name}`,
    ifMatch: true,
    access: action,
    brief: ['name'],
    summary: 'Change or pause a heartbeat; its name does not change',
    description:
      'Omitted fields stay unchanged. To replace period_s with cron, set period_s to null.',
    params: ByName,
    body: HeartbeatChange,
    response: HeartbeatShown,
    errors: ['not_found', 'conflict'],
    handle: (call) => heartbeats.change(call, call.params.name, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{name}`,
    ifMatch: true,
    access: action,
    summary: 'Delete a heartbeat and its reports',
    params: ByName,
    errors: ['not_found', 'conflict'],
    handle: (call) => heartbeats.remove(call, call.params.name),
  }),
];

/** Routes about the address and what was reported to it. */
const reportRoutes = (heartbeats: Heartbeats): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: `${path}/{name}/address`,
    access: action,
    summary: 'Get the address that a job reports to',
    params: ByName,
    response: HeartbeatAddress,
    errors: ['not_found', 'unavailable'],
    handle: async ({ params }) => heartbeats.addressOf(params.name),
  }),
  route({
    method: 'POST',
    path: `${path}/{name}/rotate`,
    access: action,
    reads: 'none',
    summary: 'Give a heartbeat a new address; the old one stops working',
    params: ByName,
    response: HeartbeatAddress,
    status: 200,
    action: 'heartbeat:rotate',
    errors: ['not_found'],
    handle: (call) => heartbeats.rotate(call, call.params.name),
  }),
  route({
    method: 'GET',
    path: `${path}/{name}/pings`,
    access: 'any',
    summary: 'List the last 100 reports of a job, without their logs',
    params: ByName,
    response: Pings,
    errors: ['not_found'],
    handle: async ({ params }) => ({ items: await heartbeats.pings(params.name, false) }),
  }),
  route({
    method: 'GET',
    path: `${path}/{name}/logs`,
    access: action,
    summary: 'List the last 100 reports of a job; the last 20 have their logs',
    params: ByName,
    response: Pings,
    errors: ['not_found'],
    handle: async ({ params }) => ({ items: await heartbeats.pings(params.name, true) }),
  }),
];
