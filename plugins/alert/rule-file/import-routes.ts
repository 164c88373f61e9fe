import { route, type RouteDeclaration } from 'svc/sdk';

import { rulesPath } from '../authoring/rule-routes.ts';
import { ImportShown, RuleFileBody } from '../authoring/rule-schema.ts';
import type { RuleImporter } from './import.ts';

export const importRoutes = (importer: RuleImporter): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: `${rulesPath}/import`,
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
