import { listRoute, route, type RouteDeclaration } from 'svc/sdk';

import { RuleId } from '../rule-schema.ts';
import { RecordingItem, type Recordings } from './recordings.ts';

const path = '/api/v1/recording-rules';

export const recordingRoutes = (recordings: Recordings): readonly RouteDeclaration[] => [
  listRoute({
    path,
    access: 'any',
    summary: 'List recording rules, newest first; POST /api/v1/alert-rules/import takes them from rule files',
    items: RecordingItem,
    handle: ({ page }) => recordings.list(page),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'alert:write',
    summary: 'Delete a recording rule; what it wrote stays',
    params: RuleId,
    errors: ['not_found'],
    handle: (call) => recordings.remove(call, call.params.id),
  }),
];
