import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import { manage } from './author/authors.ts';
import {
  ById,
  NewSchedule,
  RunByHand,
  RunItem,
  ScheduleItem,
  SchedulePatch,
  ScheduleQuery,
  shownRun,
} from './schema.ts';
import type { Schedules } from './schedules.ts';

const path = '/api/v1/schedules';
const resourceType = 'schedule';

export const scheduleRoutes = (schedules: Schedules): readonly RouteDeclaration[] => [
  ...readRoutes(schedules),
  ...changeRoutes(schedules),
  route({
    method: 'POST',
    path: `${path}/{id}/run`,
    access: manage,
    devices: 'narrowed',
    summary: 'Run a schedule once, now',
    params: ById,
    body: RunByHand,
    response: RunItem,
    status: 202,
    errors: ['not_found', 'forbidden', 'conflict'],
    handle: async ({ principal, params, body, note }) => {
      const run = await schedules.run(principal, params.id, body.incident_id);
      note({ resourceType, resourceId: params.id, after: { run_id: run.id } });
      return shownRun(run);
    },
  }),
];

const readRoutes = (schedules: Schedules): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'narrowed',
    summary: 'List your schedules with their runs and costs',
    query: ScheduleQuery,
    items: ScheduleItem,
    handle: ({ principal, query, page }) => schedules.list(principal, query, page),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'narrowed',
    summary: 'Get a schedule',
    params: ById,
    response: ScheduleItem,
    errors: ['not_found'],
    handle: ({ principal, params }) => schedules.get(principal, params.id),
  }),
  listRoute({
    path: `${path}/{id}/runs`,
    access: 'any',
    devices: 'narrowed',
    summary: 'List the runs of a schedule, newest first',
    params: ById,
    items: RunItem,
    errors: ['not_found'],
    handle: async ({ principal, params, page }) => {
      const { items, ...rest } = await schedules.runs(principal, params.id, page);
      return { ...rest, items: items.map(shownRun) };
    },
  }),
];

const changeRoutes = (schedules: Schedules): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path,
    access: manage,
    devices: 'narrowed',
    summary: 'Create a schedule that runs an agent under your name',
    body: NewSchedule,
    response: ScheduleItem,
    status: 201,
    errors: ['forbidden', 'conflict'],
    handle: async ({ principal, body, note }) => {
      const made = await schedules.create(principal, body);
      note({ resourceType, resourceId: made.id });
      return made;
    },
  }),
  route({
    method: 'PATCH',
    path: `${path}/{id}`,
    access: manage,
    devices: 'narrowed',
    summary: 'Change one of your schedules',
    params: ById,
    body: SchedulePatch,
    response: ScheduleItem,
    errors: ['not_found', 'forbidden', 'conflict'],
    handle: ({ principal, params, body }) => schedules.change(principal, params.id, body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: manage,
    devices: 'narrowed',
    summary: 'Delete a schedule and the history of its runs',
    params: ById,
    errors: ['not_found'],
    handle: ({ principal, params }) => schedules.remove(principal, params.id),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/pause`,
    access: manage,
    devices: 'narrowed',
    summary: 'Pause a schedule; runs in progress continue',
    params: ById,
    response: ScheduleItem,
    status: 200,
    errors: ['not_found'],
    handle: ({ principal, params }) => schedules.pause(principal, params.id),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/resume`,
    access: manage,
    devices: 'narrowed',
    summary: 'Resume a schedule that is paused or stopped',
    params: ById,
    response: ScheduleItem,
    status: 200,
    errors: ['not_found', 'forbidden', 'conflict'],
    handle: ({ principal, params }) => schedules.resume(principal, params.id),
  }),
];
