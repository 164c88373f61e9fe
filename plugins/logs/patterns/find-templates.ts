import type { Budget } from 'svc/query';

import { lines, type LinesQuery, type LogSource } from '../logql/index.ts';
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

/** Max number of newest lines that are examined; more add nothing. */
const maxLines = 50_000;

/** The templates of the lines that a query finds. */
export async function findTemplates(
  source: LogSource,
  { stepMs, ...query }: TemplatesQuery,
  budget: Budget,
): Promise<Templates> {
  const found = await lines(source, { ...query, limit: maxLines, direction: 'backward' }, budget);
  const tree = new TemplateTree({ stepMs });
  for (const [at, { line, ms }] of found.lines.entries()) {
    tree.add(line, ms);
    if (at % 256 === 0) {
      await budget.breathe();
    }
  }
  return {
    templates: tree.templates(),
    lines: found.lines.length,
    partial: found.partial || found.lines.length === maxLines,
  };
}
