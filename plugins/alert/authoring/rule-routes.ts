import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import { EnabledFlag, RuleDraft, RuleId, RuleQuery, RuleShown } from './rule-schema.ts';
import type { Rules } from './rules.ts';

export const rulesPath = '/api/v1/alert-rules';

export const ruleRoutes = (rules: Rules): readonly RouteDeclaration[] => [
  listRoute({
    path: rulesPath,
    access: 'any',
    devices: 'none',
    summary: 'List alert rules, newest first',
    query: RuleQuery,
    items: RuleShown,
    handle: ({ query, page }) => rules.list(query, page),
  }),
  route({
    method: 'POST',
    path: rulesPath,
    access: 'alert:write',
    brief: ['id', 'rule_key'],
    summary: 'Create an alert rule',
    description:
      'Expressions are checked; an invalid one is rejected, and the error contains the line, column and reason.',
    body: RuleDraft,
    response: RuleShown,
    errors: ['conflict', 'unavailable'],
    handle: (call) => rules.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${rulesPath}/{id}`,
    access: 'any',
    devices: 'none',
    summary: 'Get an alert rule',
    params: RuleId,
    response: RuleShown,
    errors: ['not_found'],
    handle: ({ params }) => rules.get(params.id),
  }),
  route({
    method: 'PUT',
    path: `${rulesPath}/{id}`,
    ifMatch: true,
    access: 'alert:write',
    brief: ['id'],
    summary: 'Replace an alert rule',
    description: 'Omitted fields are set to their defaults; the rule_key does not change.',
    params: RuleId,
    body: RuleDraft,
    response: RuleShown,
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: (call) => rules.replace(call, call.params.id, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${rulesPath}/{id}`,
    ifMatch: true,
    access: 'alert:write',
    summary: 'Delete an alert rule; its incidents are kept',
    params: RuleId,
    errors: ['not_found', 'conflict'],
    handle: (call) => rules.remove(call, call.params.id),
  }),
  route({
    method: 'POST',
    path: `${rulesPath}/{id}/enabled`,
    ifMatch: true,
    access: 'alert:write',
    brief: ['id'],
    summary: 'Enable, disable or toggle an alert rule',
    params: RuleId,
    body: EnabledFlag,
    response: RuleShown,
    status: 200,
    errors: ['not_found', 'conflict'],
    handle: (call) => rules.enable(call, call.params.id, call.body.enabled),
  }),
];
