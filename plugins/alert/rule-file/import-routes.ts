import { route, type RouteDeclaration } from 'svc/sdk';

import { rulesPath } from '../authoring/rule-routes.ts';
import { ImportShown, RuleFileBody } from '../authoring/rule-schema.ts';
import type { RuleImporter } from './import.ts';

export const importRoutes = (importer: RuleImporter): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: `${rulesPath}/import`,
    access: 'alert:write',
    brief: ['dry_run'],
    summary: 'Import alerting and recording rules from a Prometheus rule file',
    description:
      'Imports all supported rules, or nothing if one cannot be stored. The response lists what was left out, and why.',
    body: RuleFileBody,
    response: ImportShown,
    status: 200,
    maxBodyBytes: 8 * 1024 * 1024,
    timeoutMs: 120_000,
    errors: ['conflict', 'unavailable'],
    handle: (call) => importer.importFile(call, call.body),
  }),
];
