import { byteRoute, type Clock, listRoute, route, type RouteDeclaration, timestamp } from 'svc/sdk';

import { exported } from './export.ts';
import { filterOf } from './filter.ts';
import type { Pause } from './pace.ts';
import { shown } from './record.ts';
import { AuditLog, ExportQuery, Filters, Verdict } from './schema.ts';
import type { Store } from './store.ts';
import { totals } from './totals.ts';
import type { Verdict as Found } from './verification.ts';

export interface RouteParts {
  readonly store: Store;
  readonly verify: () => Promise<Found>;
  readonly pause: Pause;
  readonly clock: Clock;
}

/** Reading the trail is a row of it. */
const read = { access: 'admin', audited: true } as const;

export function auditRoutes({ store, verify, pause, clock }: RouteParts): readonly RouteDeclaration[] {
  const totalOf = totals(store);
  return [
    listRoute({
      ...read,
      path: '/api/v1/admin/audit-logs',
      action: 'audit:read',
      summary: 'List rows of the audit trail, newest first',
      query: Filters,
      items: AuditLog,
      async handle({ query, page }) {
        const filter = await filterOf(query, store.actorsOf);
        const rows = await store.page(filter, page.limit + 1, page.after);
        const last = rows.length > page.limit ? rows[page.limit - 1] : undefined;
        return { items: rows.slice(0, page.limit).map(shown), total: await totalOf(filter), next: last && [last.occurred_at, last.seq] };
      },
    }),
    byteRoute({
      ...read,
      method: 'GET',
      path: '/api/v1/admin/audit-logs/export',
      action: 'audit:export',
      summary: 'Download rows of the audit trail, oldest first',
      description: 'One JSON document a line, or CSV for spreadsheets, in which a cell that would be taken for a formula begins with an apostrophe.',
      query: ExportQuery,
      produces: 'application/octet-stream',
      async handle(call) {
        const { format = 'jsonl', ...asked } = call.query;
        const filter = await filterOf(asked, store.actorsOf);
        call.setHeader('content-disposition', `attachment; filename="audit-${timestamp(clock.now()).slice(0, 10)}.${format}"`);
        return exported(store, filter, format, pause);
      },
    }),
    route({
      ...read,
      method: 'GET',
      path: '/api/v1/admin/audit-logs/verify',
      action: 'audit:verify',
      summary: 'Follow the chain from its first row to its last and hold it against every signed checkpoint',
      response: Verdict,
      timeoutMs: 600_000,
      handle: () => verify(),
    }),
  ];
}
