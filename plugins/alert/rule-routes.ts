import { listRoute, route, type RouteDeclaration } from 'svc/sdk';
import type { AskingOf } from 'svc/query';

import type { RuleImporter } from './import.ts';
import type { Preview } from './preview.ts';
import {
  EnabledFlag,
  ImportShown,
  PreviewDraft,
  PreviewShown,
  RuleDraft,
  RuleFileBody,
  RuleId,
  RuleQuery,
  RuleShown,
} from './rule-schema.ts';
import type { Rules } from './rules.ts';

const path = '/api/v1/alert-rules';

export const ruleRoutes = (rules: Rules): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    devices: 'none',
    summary: 'List alert rules, newest first',
    query: RuleQuery,
    items: RuleShown,
    handle: ({ query, page }) => rules.list(query, page),
  }),
  route({
    method: 'POST',
    path,
    access: 'alert:write',
    summary: 'Create an alert rule',
    description:
      'Expressions are checked: what does not parse is refused with line, column and reason.',
    body: RuleDraft,
    response: RuleShown,
    errors: ['conflict', 'unavailable'],
    handle: (call) => rules.create(call, call.body),
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    devices: 'none',
    summary: 'One alert rule',
    params: RuleId,
    response: RuleShown,
    errors: ['not_found'],
    handle: ({ params }) => rules.get(params.id),
  }),
  route({
    method: 'PUT',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'alert:write',
    summary: 'Replace an alert rule',
    description: 'Fields left out get their defaults; the rule_key stays.',
    params: RuleId,
    body: RuleDraft,
    response: RuleShown,
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: (call) => rules.replace(call, call.params.id, call.body),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'alert:write',
    summary: 'Delete an alert rule; its incidents stay',
    params: RuleId,
    errors: ['not_found', 'conflict'],
    handle: (call) => rules.remove(call, call.params.id),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/enabled`,
    ifMatch: true,
    access: 'alert:write',
    summary: 'Flip the enabled flag, or set it',
    params: RuleId,
    body: EnabledFlag,
    response: RuleShown,
    status: 200,
    errors: ['not_found', 'conflict'],
    handle: (call) => rules.enable(call, call.params.id, call.body.enabled),
  }),
];

export const previewRoutes = (
  preview: Preview,
  askingOf: AskingOf,
): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: `${path}/preview`,
    access: 'alert:preview',
    devices: 'narrowed',
    summary: 'Run a rule definition over past data, and show when it would have fired',
    body: PreviewDraft,
    response: PreviewShown,
    status: 200,
    timeoutMs: 60_000,
    audited: false,
    errors: ['unavailable', 'budget_exceeded'],
    handle: async ({ body, principal, signal }) =>
      preview.run(body, { ...(await askingOf(principal)), signal }),
  }),
];

export const importRoutes = (importer: RuleImporter): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: `${path}/import`,
    access: 'alert:write',
    summary: 'Take over the alerting and recording rules of a Prometheus rule file',
    description:
      'All that can be taken over, or nothing when a rule cannot be stored; the answer says what was left out, and why.',
    body: RuleFileBody,
    response: ImportShown,
    status: 200,
    maxBodyBytes: 8 * 1024 * 1024,
    timeoutMs: 120_000,
    errors: ['conflict', 'unavailable'],
    handle: (call) => importer.importFile(call, call.body),
  }),
];
