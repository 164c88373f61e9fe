import { route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { TraceDriver } from './driver.ts';

const Found = Type.Object({
  ok: Type.Boolean(),
  latency_ms: Type.Number(),
  version: Type.Optional(Type.String({ description: 'of the remote store, where it tells it' })),
  detail: Type.String({ description: 'which store answered, or why it did not' }),
  code: Type.Optional(Type.String({ description: 'of the error' })),
});

/** Whether the store that is set answers; one that does not is an answer, too. */
export const testRoutes = (driver: () => TraceDriver): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/integrations/tracestore/test',
    access: 'admin',
    summary: 'Test the connection to the trace store that is set',
    response: Found,
    status: 200,
    action: 'tracestore:test',
    async handle() {
      const { driver: name, ok, detail, delayMs, version, code } = await driver().status();
      return {
        ok,
        latency_ms: Math.round(delayMs),
        detail: detail ?? `the ${name} store answers`,
        ...(version !== undefined && { version }),
        ...(code !== undefined && { code }),
      };
    },
  }),
];
