import {
  type AuthenticatorContract,
  byteRoute,
  type Handle,
  route,
  type RouteDeclaration,
  timestamp,
} from 'svc/sdk';
import type { AskingOf } from 'svc/query';

import type { Driver } from './drivers/driver.ts';
import type { Switchboard } from './drivers/switchboard.ts';
import { errors } from './errors.ts';
import { answerMs } from './prometheus-routes.ts';
import { Launch, Launched, Matrix, RangeQuestion } from './schema.ts';

/** Routes of the plugin's own API; metrics are under /prometheus. */
export const metricsdbRoutes = (
  board: Switchboard,
  asking: AskingOf,
): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/metricsdb/launch',
    access: 'admin',
    summary: 'Restart the metrics store with a different driver or retention',
    description:
      'The choice is kept across restarts; the settings metricsdb.driver and metricsdb.retention take precedence.',
    body: Launch,
    response: Launched,
    status: 200,
    timeoutMs: 90_000,
    action: 'metricsdb:launch',
    errors: ['conflict', 'unavailable'],
    async handle(call) {
      const { body } = call;
      const driver = await board.launch(body);
      call.note({
        resourceType: 'metricsdb',
        resourceId: driver.name,
        after: { driver: driver.name, ...body },
      });
      return launched(driver);
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/metricsdb/query_range',
    access: 'any',
    devices: 'narrowed',
    summary: 'Run a PromQL query over a window; returns a matrix',
    body: RangeQuestion,
    response: Matrix,
    status: 200,
    audited: false,
    timeoutMs: answerMs,
    errors: ['budget_exceeded', 'rate_limited', 'unavailable', 'upstream_error'],
    async handle({ body, principal, signal }) {
      const pairs = Object.entries(body).map(([name, value]) => [name, String(value)] as const);
      return board.driver.ask(
        { endpoint: 'query_range', shape: 'tool', pairs, ...(await asking(principal)) },
        signal,
      );
    },
  }),
];

function launched(driver: Driver) {
  const { status, url, pid, startedAt } = driver.state();
  return {
    status,
    driver: driver.name,
    url,
    pid,
    started_at: startedAt === null ? null : timestamp(startedAt),
  };
}

const longestCredential = 8_192;

/**
 * Returns a route for a proxy that protects a dashboard: no body, only whether somebody is signed
 * in.
 */
export const authProbe = (authenticator: Handle<AuthenticatorContract>): RouteDeclaration =>
  byteRoute({
    method: 'GET',
    path: '/api/v1/metricsdb/auth',
    access: 'public',
    summary: 'Check, on behalf of a proxy, whether the caller is signed in: 204 or 401',
    produces: 'text/plain; charset=utf-8',
    errors: ['unauthorized', 'forbidden'],
    async handle({ headers, ip }) {
      const [, value] = /^bearer (.+)$/i.exec(headers['authorization'] ?? '') ?? [];
      const credential =
        value !== undefined && value.length <= longestCredential
          ? ({ scheme: 'bearer', value: value.trim(), ip } as const)
          : undefined;
      // Where nobody can be authenticated, nobody is signed in, as everywhere in svc.
      const principal =
        credential && authenticator.available
          ? await authenticator.get().authenticate(credential)
          : undefined;
      if (principal === undefined || principal.kind === 'anonymous' || principal.kind === 'edge') {
        throw errors.not_signed_in();
      }
      if (principal.selectors !== undefined) {
        throw errors.all_devices_only();
      }
    },
  });
