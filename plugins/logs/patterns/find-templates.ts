import type { Budget } from 'svc/query';
import { isSvcError } from 'svc/sdk';

import { lines, type LinesQuery, type LinesResult, type LogSource } from '../logql/index.ts';
import { type Template, TemplateTree } from './template-tree.ts';

export interface TemplatesQuery extends Omit<LinesQuery, 'limit' | 'direction' | 'interval'> {
  /** Length of a time step. */
  readonly stepMs: number;
}

export interface Templates {
  readonly templates: readonly Template[];
  /** Lines that were read for them: all of the window, or the newest. */
  readonly lines: number;
  readonly partial: boolean;
}

/** Lines that are read at once. */
const pageLines = 50_000;
/** Max number of newest lines that are examined. */
const maxLines = 500_000;

/** The templates of the lines that a query finds. */
export async function findTemplates(
  source: LogSource,
  { stepMs, ...query }: TemplatesQuery,
  budget: Budget,
): Promise<Templates> {
  const tree = new TemplateTree({ stepMs });
  let { end } = query;
  let read = 0;
  for (;;) {
    const page = { ...query, end, limit: pageLines, direction: 'backward' } as const;
    const found = await pageOf(source, page, budget, read > 0);
    const isLast = found.lines.length < pageLines || found.partial;
    const oldest = found.lines.at(-1);
    // Lines of the oldest millisecond may go on in the next page, which has all of them; unless there are too many.
    const kept = isLast ? found.lines : found.lines.filter(({ ms }) => ms !== oldest!.ms);
    for (const [at, { line, ms }] of (kept.length === 0 ? found.lines : kept).entries()) {
      tree.add(line, ms);
      if (at % 256 === 0) {
        await budget.breathe();
      }
    }
    read += kept.length === 0 ? found.lines.length : kept.length;
    if (isLast || read >= maxLines) {
      return {
        templates: tree.templates(),
        lines: read,
        partial: found.partial || read >= maxLines,
      };
    }
    end = { ms: oldest!.ms + (kept.length === 0 ? 0 : 1), ns: 0 };
  }
}

/** A budget that ends behind the first page leaves what was read till then. */
async function pageOf(
  source: LogSource,
  page: LinesQuery,
  budget: Budget,
  isLater: boolean,
): Promise<LinesResult> {
  try {
    return await lines(source, page, budget);
  } catch (error) {
    if (isLater && isSvcError(error) && error.code === 'budget_exceeded') {
      return { type: 'streams', lines: [], partial: true };
    }
    throw error;
  }
}
