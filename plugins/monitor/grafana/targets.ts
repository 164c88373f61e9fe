import type { PanelQuery } from '../model/drawing.ts';
import { isOverTime } from '../model/panel.ts';
import type { PanelType } from '../model/schema.ts';
import type { Datasource } from './datasource.ts';
import { type Foreign, objects, text } from '../frames/foreign-json.ts';
import type { LeftOut } from './report.ts';

export interface Targets {
  readonly queries: readonly PanelQuery[];
  readonly leftOut: readonly LeftOut[];
}

const longestQuery = 8_192;

/** The queries of a panel as ours, and those that cannot be asked here. */
export function targetsOf(
  foreign: Foreign,
  title: string,
  type: PanelType,
  datasource: (value: unknown) => Datasource,
): Targets {
  const queries: PanelQuery[] = [];
  const leftOut: LeftOut[] = [];
  for (const [at, target] of objects(foreign['targets']).entries()) {
    const own = datasource(target['datasource'] ?? foreign['datasource']);
    const reason = refusalOf(target, own, type);
    if (reason === undefined) {
      queries.push(queryOf(target, own, refOf(target, at, queries), type));
    } else {
      leftOut.push({ kind: 'query', title: `${title} ${text(target['refId'])}`.trim(), reason });
    }
  }
  return { queries, leftOut };
}

function queryOf(target: Foreign, own: Datasource, ref: string, type: PanelType): PanelQuery {
  const legend = text(target['legendFormat']);
  const step = text(target['interval'], 60);
  const format = text(target['format']);
  const isInstant =
    (target['instant'] === true && target['range'] !== true) || target['queryType'] === 'instant';
  const isRange = target['range'] === true || target['queryType'] === 'range';
  return {
    ref,
    query: text(target['expr'], longestQuery),
    ...(legend !== '' && legend !== '__auto' && { legend }),
    ...(own.kind === 'logs' && { store: 'logs' as const }),
    ...(isInstant && type !== 'table' && { at: 'instant' as const }),
    ...(isRange && !isInstant && !isOverTime(type) && { at: 'range' as const }),
    ...((format === 'table' || format === 'heatmap') && { format }),
    ...(target['hide'] === true && { hidden: true }),
    ...(step !== '' && { min_step: step }),
  };
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');

/** The first letter that is free, where a query has no name of its own. */
function refOf(target: Foreign, at: number, before: readonly PanelQuery[]): string {
  const own = text(target['refId'], 40);
  const isFree = (ref: string): boolean => before.every((query) => query.ref !== ref);
  return /^[A-Za-z0-9_ -]{1,40}$/.test(own) && isFree(own)
    ? own
    : (letters.find(isFree) ?? `Q${at + 1}`);
}

/** Why a query of a panel cannot be asked. */
function refusalOf(target: Foreign, own: Datasource, type: PanelType): string | undefined {
  if (own.kind === 'other') {
    return own.name === '__expr__'
      ? 'it is an expression over other queries'
      : `its datasource is ${own.name || 'unknown'}; only metrics and logs are supported`;
  }
  if (own.kind === 'metrics' && type === 'logs') {
    return 'it shows metrics as log lines';
  }
  const { expr } = target;
  if (typeof expr !== 'string' || expr.trim() === '') {
    return 'it has no query in PromQL or LogQL';
  }
  return expr.length > longestQuery ? 'its query is longer than 8 KiB' : undefined;
}
