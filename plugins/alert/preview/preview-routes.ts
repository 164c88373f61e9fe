import type { AskingOf } from 'svc/query';
import { route, type RouteDeclaration } from 'svc/sdk';

import { rulesPath } from '../authoring/rule-routes.ts';
import { PreviewDraft, PreviewShown } from '../authoring/rule-schema.ts';
import type { Preview } from './preview.ts';

export const previewRoutes = (
  preview: Preview,
  askingOf: AskingOf,
): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: `${rulesPath}/preview`,
    access: 'alert:preview',
    devices: 'narrowed',
    reads: 'none',
    readsAsked: ['metricsdb', 'logs'],
    summary: 'Preview when a rule would have fired, based on past data',
    description:
      'An API token also needs read:metricsdb or read:logs, depending on what the rule queries.',
    body: PreviewDraft,
    response: PreviewShown,
    status: 200,
    timeoutMs: 60_000,
    audited: false,
    errors: ['unavailable', 'budget_exceeded'],
    handle: async ({ body, principal, signal, requireRead }) =>
      preview.run(body, { ...(await askingOf(principal)), signal, requireRead }),
  }),
];
