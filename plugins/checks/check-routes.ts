import { byteRoute, listRoute, route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { Checks } from './checks.ts';
import {
  BadgeAsked,
  ByName,
  type CheckChange,
  CheckChange as CheckChangeSchema,
  CheckDraft,
  CheckShown,
  CheckTrial,
  GroupShown,
  Tried,
  Uptime,
} from './check/check-schema.ts';

const path = '/api/v1/checks';
const action = 'check:edit';
/** A round lasts as long as its retries and their timeouts. */
const roundMs = 120_000;

export const checkRoutes = (checks: Checks): readonly RouteDeclaration[] => [
  ...definitionRoutes(checks),
  ...probeRoutes(checks),
  ...uptimeRoutes(checks),
];

const definitionRoutes = (checks: Checks): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List checks by name, with the last reading of each place',
    items: CheckShown,
    handle: ({ page }) => checks.list(page),
  }),
  route({
    method: 'POST',
    path,
    access: action,
    summary: 'Create a check, which runs at once and then at its interval',
    description:
      'svc connects only to addresses that outbound.allow_private permits; an agent connects only to addresses that the policy of its machine permits.',
    body: CheckDraft,
    response: CheckShown,
    errors: ['conflict'],
    handle: (call) => checks.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${path}/{name}`,
    access: 'any',
    summary: 'Get a check, with the last reading of each place',
    params: ByName,
    response: CheckShown,
    errors: ['not_found'],
    handle: ({ params }) => checks.get(params.name),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{name}`,
    ifMatch: true,
    access: action,
    brief: ['name'],
    summary: 'Change a check; its name and kind do not change',
    description:
      'Omitted fields, including sealed ones, stay unchanged; null restores the default of a field.',
    params: ByName,
    body: CheckChangeSchema,
    response: CheckShown,
    errors: ['not_found', 'conflict'],
    handle: (call) => checks.change(call, call.params.name, call.body as CheckChange),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{name}`,
    ifMatch: true,
    access: action,
    summary: 'Delete a check and its history',
    params: ByName,
    errors: ['not_found', 'conflict'],
    handle: (call) => checks.remove(call, call.params.name),
  }),
];

/** Routes that probe, or read what probes have found. */
const probeRoutes = (checks: Checks): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: `${path}/try`,
    access: action,
    reads: 'none',
    summary: 'Probe a target once from each place without storing anything',
    body: CheckTrial,
    response: Tried,
    status: 200,
    timeoutMs: roundMs,
    audited: false,
    handle: (call) => checks.try(call.body, call.signal),
  }),
  byteRoute({
    method: 'GET',
    path: `${path}/{name}/picture`,
    access: 'any',
    summary: 'Get what the browser showed when a step of a check last failed, as JPEG',
    params: ByName,
    produces: 'image/jpeg',
    errors: ['not_found'],
    async handle({ params, setHeader }) {
      const picture = await checks.picture(params.name);
      setHeader('cache-control', 'private, no-store');
      return picture;
    },
  }),
  route({
    method: 'POST',
    path: `${path}/{name}/run`,
    access: action,
    brief: ['name'],
    summary: 'Run a check now',
    params: ByName,
    response: CheckShown,
    status: 200,
    timeoutMs: roundMs,
    action: 'check:run',
    errors: ['not_found'],
    handle: ({ params }) => checks.run(params.name),
  }),
];

/** Routes about how long checks were up. */
const uptimeRoutes = (checks: Checks): readonly RouteDeclaration[] => [
  route({
    method: 'GET',
    path: `${path}/{name}/uptime`,
    access: 'any',
    summary: 'Get the uptime of a check by hour or by day, and its changes of state',
    params: ByName,
    query: Type.Object({
      days: Type.Integer({ minimum: 1, maximum: 365, default: 1, description: 'Number of days' }),
    }),
    response: Uptime,
    errors: ['not_found'],
    handle: ({ params, query }) => checks.uptime(params.name, query.days),
  }),
  listRoute({
    path: '/api/v1/check-groups',
    access: 'any',
    summary: 'List groups of checks, with their state and uptime',
    items: GroupShown,
    handle: ({ page }) => checks.groups(page),
  }),
  byteRoute({
    method: 'GET',
    path: '/badges/checks/{name}',
    access: 'public',
    audited: false,
    summary: 'Get the badge of a check as SVG',
    description: 'Only of checks with badge: true. Responds with 404 for all others.',
    params: ByName,
    query: BadgeAsked,
    produces: 'image/svg+xml',
    errors: ['not_found'],
    async handle({ params, query, setHeader }) {
      const badge = await checks.badge(params.name, query);
      setHeader('cache-control', 'public, max-age=60');
      return badge;
    },
  }),
];
