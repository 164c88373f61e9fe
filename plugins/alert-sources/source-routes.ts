import { byteRoute, listRoute, route, type RouteDeclaration } from 'svc/sdk';

import type { Intake } from './intake.ts';
import {
  ById,
  ByKey,
  ByToken,
  SourceChange,
  SourceDraft,
  SourceMade,
  SourceShown,
} from './schema.ts';
import { hookPath, type Sources } from './sources.ts';

const path = '/api/v1/alert-sources';
const mostBytes = 4 * 1024 * 1024;

export const sourceRoutes = (sources: Sources): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List alert sources, newest first',
    items: SourceShown,
    handle: ({ page }) => sources.list(page),
  }),
  route({
    method: 'POST',
    path,
    access: 'alert:source',
    reads: 'none',
    summary: 'Create an alert source',
    description:
      'The url contains a secret and is shown once. Set it as an Alertmanager webhook or a Grafana contact point.',
    body: SourceDraft,
    response: SourceMade,
    errors: ['conflict'],
    handle(call) {
      const { key, ...draft } = call.body;
      return sources.create(call, key, draft);
    },
  }),
  route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Get an alert source',
    params: ById,
    response: SourceShown,
    errors: ['not_found'],
    handle: ({ params }) => sources.get(params.id),
  }),
  route({
    method: 'PUT',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'alert:source',
    brief: ['id'],
    summary: 'Update an alert source; its key and URL do not change',
    description: 'Omitted fields stay unchanged, except the signing secret, which is removed.',
    params: ById,
    body: SourceChange,
    response: SourceShown,
    errors: ['not_found', 'conflict'],
    handle: (call) => sources.replace(call, call.params.id, call.body),
  }),
  route({
    method: 'POST',
    path: `${path}/{id}/rotate`,
    access: 'alert:source',
    brief: ['id', 'url'],
    summary: 'Rotate the URL of an alert source; the previous one stops working at once',
    params: ById,
    response: SourceMade,
    status: 200,
    action: 'alert_source:rotate',
    errors: ['not_found'],
    handle: (call) => sources.rotate(call, call.params.id),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    ifMatch: true,
    access: 'alert:source',
    summary: 'Delete an alert source and end its incidents',
    params: ById,
    errors: ['not_found', 'conflict'],
    handle: (call) => sources.remove(call, call.params.id),
  }),
];

const pushed = {
  method: 'POST',
  consumes: ['*/*'],
  maxBodyBytes: mostBytes,
  produces: 'application/json',
  audited: false,
} as const;

export const hookRoutes = (intake: Intake, sources: Sources): readonly RouteDeclaration[] => [
  byteRoute({
    ...pushed,
    path: `${hookPath}/{token}`,
    access: 'public',
    summary: 'Receive alerts; authenticated by the secret in the URL',
    description:
      'Accepts webhook bodies from Alertmanager and Grafana. A wrong URL, a wrong signature and an expired signature all get the same response.',
    params: ByToken,
    wording: ({ status, message }) => ({ type: 'text/plain', body: status === 401 ? '' : message }),
    errors: ['unauthorized', 'invalid_argument', 'unavailable'],
    handle: async ({ params, headers, body }) =>
      JSON.stringify(await intake.byAddress(params.token, { headers, body })),
  }),
  byteRoute({
    ...pushed,
    path: `${path}/{key}/alerts`,
    access: { action: 'alert:tell', machine: true },
    reads: 'none',
    summary: 'Receive alerts; authenticated by an API token',
    description:
      'For senders whose URL contains no secret: requires an API token with alert:tell, as a bearer token or as the Basic auth password.',
    params: ByKey,
    errors: ['not_found', 'invalid_argument', 'unavailable'],
    handle: async ({ params, body }) =>
      JSON.stringify(await intake.take(await sources.byKey(params.key), body)),
  }),
];
