import { byteRoute, type Clock, listRoute, route, type RouteDeclaration, timestamp } from 'svc/sdk';

import { exported } from './export.ts';
import { type Filter, filterOf } from './rows/filter.ts';
import type { Pause } from './pace.ts';
import { shown } from './rows/record.ts';
import { AuditLog, ExportQuery, Filters, SinkState, Verdict } from './schema.ts';
import type { Shipment } from './sink/shipment.ts';
import type { Store } from './rows/store.ts';
import type { Verification } from './verification.ts';

export interface RouteParts {
  readonly store: Store;
  readonly verification: Verification;
  readonly shipment: Pick<Shipment, 'state'>;
  readonly pause: Pause;
  readonly clock: Clock;
}

/** Reading the trail is a row of it. */
const read = { access: 'admin', audited: true } as const;

export function auditRoutes({
  store,
  verification,
  shipment,
  pause,
  clock,
}: RouteParts): readonly RouteDeclaration[] {
  const totals = new Totals(store);
  return [
    listRoute({
      ...read,
      path: '/api/v1/admin/audit-logs',
      action: 'audit:read',
      summary: 'List audit log entries, newest first',
      query: Filters,
      items: AuditLog,
      async handle({ query, page }) {
        const filter = await filterOf(query, (email) => store.actorsOf(email));
        const rows = await store.page(filter, page.limit + 1, page.after);
        const last = rows.length > page.limit ? rows[page.limit - 1] : undefined;
        return {
          items: rows.slice(0, page.limit).map(shown),
          total: await totals.of(filter),
          next: last && [last.occurred_at, last.seq],
        };
      },
    }),
    byteRoute({
      ...read,
      method: 'GET',
      path: '/api/v1/admin/audit-logs/export',
      action: 'audit:export',
      summary: 'Export audit log entries, oldest first',
      description:
        'One JSON document per line, or CSV for spreadsheets, with an apostrophe in front of cells that look like formulas.',
      query: ExportQuery,
      produces: 'application/octet-stream',
      async handle(call) {
        const { format = 'jsonl', ...asked } = call.query;
        const filter = await filterOf(asked, (email) => store.actorsOf(email));
        call.setHeader(
          'content-disposition',
          `attachment; filename="audit-${timestamp(clock.now()).slice(0, 10)}.${format}"`,
        );
        return exported(store, filter, format, pause);
      },
    }),
    route({
      access: 'admin',
      method: 'GET',
      path: '/api/v1/admin/audit-logs/sink',
      action: 'audit:read',
      summary: 'Get the progress of audit log shipping to the sink',
      response: SinkState,
      handle: () => shipment.state(),
    }),
    route({
      ...read,
      method: 'GET',
      path: '/api/v1/admin/audit-logs/verify',
      action: 'audit:verify',
      summary: 'Verify the hash chain against every signed checkpoint',
      response: Verdict,
      timeoutMs: 600_000,
      handle: () => verification.run(),
    }),
  ];
}

interface Known {
  readonly first: number;
  readonly upTo: number;
  readonly total: number;
}

const mostKnown = 100;
/** Number of new rows above which walking the index again is faster than walking the rows. */
const mostNew = 5_000;

/**
 * Sizes of filtered sets. Rows are only added at the end and removed at the beginning, so while the beginning
 * stands, a size once known needs nothing but what came since.
 */
class Totals {
  readonly #store: Store;
  readonly #known = new Map<string, Known>();

  constructor(store: Store) {
    this.#store = store;
  }

  async of(filter: Filter): Promise<number> {
    const { first, last } = await this.#store.span();
    if (Object.keys(filter).length === 0) {
      return last === 0 ? 0 : last - first + 1;
    }
    const key = JSON.stringify(filter);
    const earlier = this.#known.get(key);
    const isFresh =
      earlier !== undefined && earlier.first === first && last - earlier.upTo <= mostNew;
    const total = isFresh
      ? earlier.total + (await this.#store.countIn(filter, { after: earlier.upTo, upTo: last }))
      : await this.#store.count(filter, last);
    this.#known.delete(key);
    this.#known.set(key, { first, upTo: last, total });
    if (this.#known.size > mostKnown) {
      this.#known.delete(this.#known.keys().next().value!);
    }
    return total;
  }
}
