import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import { CheckShown } from '../check/check-schema.ts';
import { ById, ProposalShown } from './proposal-schema.ts';
import type { Proposals } from './proposals.ts';

const path = '/api/v1/check-proposals';
const action = 'check:edit';

export const proposalRoutes = (proposals: Proposals): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List addresses that agents found on their machines and that no check watches yet',
    items: ProposalShown,
    handle: ({ page }) => proposals.list(page),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/take`,
    access: action,
    brief: ['name'],
    summary: 'Create the check that was proposed',
    params: ById,
    response: CheckShown,
    errors: ['not_found', 'conflict'],
    handle: (call) => proposals.take(call, call.params.id),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/dismiss`,
    access: action,
    summary: 'Dismiss a proposal, which then stays dismissed',
    params: ById,
    errors: ['not_found'],
    handle: (call) => proposals.dismiss(call, call.params.id),
  }),
];
