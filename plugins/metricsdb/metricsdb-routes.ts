import { route, type RouteDeclaration, timestamp } from 'svc/sdk';

import type { Driver } from './drivers/driver.ts';
import type { Switchboard } from './drivers/switchboard.ts';
import { answerMs } from './prometheus-routes.ts';
import { Launch, Launched, Matrix, RangeQuestion } from './schema.ts';

/** What the API itself offers; the metrics themselves are under /prometheus. */
export const metricsdbRoutes = (board: Switchboard): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/metricsdb/launch',
    access: 'admin',
    summary: 'Start the metrics store anew, with another driver or retention where no setting names one',
    description: 'What is asked for is kept over restarts, and gives way to the settings metricsdb.driver and metricsdb.retention.',
    body: Launch,
    response: Launched,
    status: 200,
    timeoutMs: 90_000,
    action: 'metricsdb:launch',
    errors: ['conflict', 'unavailable'],
    async handle(call) {
      const { body } = call;
      const driver = await board.launch(body);
      call.note({ resourceType: 'metricsdb', resourceId: driver.name, after: { driver: driver.name, ...body } });
      return launched(driver);
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/metricsdb/query_range',
    access: 'any',
    summary: 'A PromQL query over a window, as one matrix',
    body: RangeQuestion,
    response: Matrix,
    status: 200,
    audited: false,
    timeoutMs: answerMs,
    errors: ['budget_exceeded', 'rate_limited', 'unavailable', 'upstream_error'],
    handle: ({ body, signal }) =>
      board.driver.ask({ endpoint: 'query_range', shape: 'tool', pairs: Object.entries(body).map(([name, value]) => [name, String(value)]) }, signal),
  }),
];

function launched(driver: Driver) {
  const { status, url, pid, startedAt } = driver.state();
  return { status, driver: driver.name, url, pid, started_at: startedAt === null ? null : timestamp(startedAt) };
}
