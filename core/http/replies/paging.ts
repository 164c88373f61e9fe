import { principalKey } from '../../auth/index.ts';
import type { Page, PageRequest, SvcError } from '../../sdk/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { seal, unseal } from '../exchange/seal.ts';
import { errors } from './errors.ts';

const usualLimit = 50;
const largestLimit = 200;
const longestCursor = 4_096;

/** Parameters of a list route besides its own filters. */
interface PageAsked {
  readonly limit: unknown;
  readonly cursor: unknown;
}

/** Takes `limit` and `cursor` out of the query, so that the route's schema sees its own filters only. */
export function takePage(query: Record<string, unknown>): PageAsked {
  const { limit, cursor } = query;
  delete query.limit;
  delete query.cursor;
  return { limit, cursor };
}

/** The page that is asked for; `query` is checked already. */
export function readPage(exchange: Exchange, asked: PageAsked, query: unknown): PageRequest {
  const limit = readLimit(asked.limit);
  return asked.cursor === undefined || asked.cursor === ''
    ? { limit }
    : { limit, after: openCursor(exchange, asked.cursor, query) };
}

/** `{items, next_cursor, total}`; the cursor is good for the same list, filters and caller only. */
export function pageBody(exchange: Exchange, page: Page<unknown>, query: unknown): object {
  const next =
    page.next &&
    seal(exchange.front.cursorKey, purpose(exchange, query), JSON.stringify(page.next));
  return { items: page.items, next_cursor: next ?? '', total: page.total };
}

function readLimit(text: unknown): number {
  if (text === undefined) {
    return usualLimit;
  }
  if (typeof text !== 'string' || !/^\d{1,9}$/.test(text) || Number(text) < 1) {
    throw refusal('limit', `must be an integer from 1 to ${largestLimit}`);
  }
  return Math.min(Number(text), largestLimit);
}

function openCursor(
  exchange: Exchange,
  cursor: unknown,
  query: unknown,
): readonly (string | number)[] {
  const text =
    typeof cursor === 'string' && cursor.length <= longestCursor
      ? unseal(exchange.front.cursorKey, purpose(exchange, query), cursor)
      : undefined;
  if (text === undefined) {
    throw refusal('cursor', 'is not one of this list; start again without it');
  }
  return JSON.parse(text) as (string | number)[];
}

/** Everything a cursor is bound to. */
function purpose({ served, params, principal }: Exchange, query: unknown): string {
  const filters = Object.entries(query as object).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(['cursor', served!.route.key, params, filters, principalKey(principal)]);
}

const refusal = (name: string, message: string): SvcError =>
  errors.page_asked(
    { name, problem: message },
    {
      details: [{ path: `/${name}`, message }],
    },
  );
