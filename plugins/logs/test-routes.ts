import { route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { LogDriver } from './driver.ts';

const Found = Type.Object({
  ok: Type.Boolean(),
  latency_ms: Type.Number(),
  detail: Type.String({ description: 'which store answered, or why it did not' }),
});

/** Whether the store that is set answers; one that does not is an answer, too. */
export const testRoutes = (driver: () => LogDriver): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/integrations/logstore/test',
    access: 'admin',
    summary: 'Test the connection to the log store that is set',
    response: Found,
    status: 200,
    action: 'logstore:test',
    async handle() {
      const { driver: name, ok, detail, delayMs } = await driver().status();
      return { ok, latency_ms: Math.round(delayMs), detail: detail ?? `the ${name} store answers` };
    },
  }),
];
