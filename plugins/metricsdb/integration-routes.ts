import { type Clock, isSvcError, messageOf, route, type RouteDeclaration } from 'svc/sdk';

import type { Driver } from './drivers/driver.ts';
import { Connection, TestOutcome } from './schema.ts';

export interface IntegrationParts {
  readonly driver: () => Driver;
  /** A driver for a server that is only tried. */
  readonly trial: (url: string) => Driver;
  readonly clock: Clock;
}

export const integrationRoutes = ({ driver, trial, clock }: IntegrationParts): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/integrations/metricsdb/test',
    access: 'admin',
    summary: 'Test the connection to the metrics store in force, or to another one',
    description: 'A server that fails is an answer with ok false, not an error.',
    body: Connection,
    response: TestOutcome,
    status: 200,
    action: 'integration:test',
    async handle({ body: { url }, signal }) {
      const began = clock.monotonic();
      try {
        const { ok, detail = ok ? 'it answers' : 'it does not answer', version, code } = await (url === undefined ? driver() : trial(url)).probe(signal);
        return { ok, latency_ms: clock.monotonic() - began, detail, ...(version !== undefined && { version }), ...(code !== undefined && { code }) };
      } catch (error) {
        return { ok: false, latency_ms: clock.monotonic() - began, detail: messageOf(error), code: isSvcError(error) ? error.code : 'internal' };
      }
    },
  }),
];
