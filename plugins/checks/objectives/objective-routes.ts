import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import { ByName } from '../check/check-schema.ts';
import { ObjectiveChange, ObjectiveDraft, ObjectiveShown } from './objective-schema.ts';
import type { Objectives } from './objectives.ts';

const path = '/api/v1/objectives';
const action = 'check:edit';

export const objectiveRoutes = (objectives: Objectives): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List objectives by name, with what is left of their budgets',
    items: ObjectiveShown,
    handle: ({ page }) => objectives.list(page),
  }),
  route({
    method: 'POST',
    path,
    access: action,
    summary: 'Set an objective for the uptime of a check or of a group of checks',
    description: 'Built-in rules report an objective whose budget is spent too quickly.',
    body: ObjectiveDraft,
    response: ObjectiveShown,
    errors: ['conflict', 'not_found'],
    handle: (call) => objectives.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${path}/{name}`,
    access: 'any',
    summary: 'Get an objective, with what is left of its budget',
    params: ByName,
    response: ObjectiveShown,
    errors: ['not_found'],
    handle: ({ params }) => objectives.get(params.name),
  }),
  route({
    method: 'PATCH',
    path: `${path}/{name}`,
    ifMatch: true,
    access: action,
    brief: ['name'],
    summary: 'Change the target or the window of an objective',
    params: ByName,
    body: ObjectiveChange,
    response: ObjectiveShown,
    errors: ['not_found', 'conflict'],
    handle: (call) => objectives.change(call, call.params.name, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{name}`,
    ifMatch: true,
    access: action,
    summary: 'Delete an objective; its checks stay',
    params: ByName,
    errors: ['not_found', 'conflict'],
    handle: (call) => objectives.remove(call, call.params.name),
  }),
];
