import { messageOf } from 'svc/sdk';

import type { Variable } from '../model/dashboard.ts';
import { mostVariables } from '../model/schema.ts';
import { assertVariables } from '../variables/variable-rules.ts';
import type { Datasource } from './datasource.ts';
import { field, type Foreign, objects, text } from '../frames/foreign-json.ts';
import { patternOf } from './display.ts';
import type { LeftOut, TakenVariable } from './report.ts';

export interface Variables {
  readonly taken: readonly TakenVariable[];
  readonly leftOut: readonly LeftOut[];
}

const most = mostVariables;
const nameForm = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;

/** The variables of a Grafana dashboard as ours. */
export function variablesOf(
  dashboard: Foreign,
  datasource: (value: unknown) => Datasource,
): Variables {
  const taken: TakenVariable[] = [];
  const leftOut: LeftOut[] = [];
  for (const foreign of objects(field(dashboard, 'templating', 'list'))) {
    const title = text(foreign['name']) || 'without a name';
    const found = variableOf(foreign, datasource);
    const reason =
      'reason' in found
        ? found.reason
        : taken.length === most
          ? `a dashboard may have at most ${most} variables`
          : problemOf(found.variable);
    if ('variable' in found && reason === undefined) {
      taken.push(found);
    } else {
      leftOut.push({ kind: 'variable', title, reason: reason! });
    }
  }
  return { taken, leftOut };
}

function variableOf(
  foreign: Foreign,
  datasource: (value: unknown) => Datasource,
): TakenVariable | { readonly reason: string } {
  const name = text(foreign['name']);
  const type = text(foreign['type']);
  if (!nameForm.test(name)) {
    return { reason: 'its name is not made of letters, digits and _' };
  }
  const label = text(foreign['label']);
  const head = {
    name,
    ...(label !== '' && { title: label }),
    ...(foreign['hide'] === 1 && { hide: 'label' as const }),
    ...(foreign['hide'] === 2 && { hide: 'variable' as const }),
  };
  const pattern = text(foreign['allValue']);
  const isForAll = foreign['includeAll'] === true;
  const several = {
    ...(foreign['multi'] === true && { multi: true }),
    ...(isForAll && { all: true }),
    ...(isForAll && pattern !== '' && { all_value: pattern }),
  };
  switch (type) {
    case 'query':
      return queryVariable(foreign, { ...head, ...several }, datasource);
    case 'custom':
    case 'interval':
    case 'constant': {
      const { values, texts } = valuesOf(foreign);
      const chosen = text(field(foreign, 'current', 'value'));
      const usual = values.includes(chosen) ? { default: chosen } : {};
      return {
        variable: {
          ...head,
          ...(type === 'constant' && { hide: 'variable' as const }),
          type,
          values,
          ...(texts.some((shown, at) => shown !== values[at]) && { texts }),
          ...(type !== 'constant' && usual),
          ...(type === 'custom' && several),
        },
        notes: [],
      };
    }
    case 'textbox': {
      const usual = text(foreign['query']);
      return {
        variable: { ...head, type: 'text', ...(usual !== '' && { default: usual }) },
        notes: [],
      };
    }
    case 'datasource': {
      const chosen = text(field(foreign, 'current', 'text'));
      return { variable: { ...head, type, values: [chosen || 'default'] }, notes: [] };
    }
    case 'adhoc':
      return { variable: { ...head, type }, notes: [] };
    default:
      return { reason: `variables of type ${type || 'unknown'} are not supported` };
  }
}

/** A variable whose values a store knows. */
function queryVariable(
  foreign: Foreign,
  head: Pick<Variable, 'name'> & Partial<Variable>,
  datasource: (value: unknown) => Datasource,
): TakenVariable | { readonly reason: string } {
  const source = datasource(foreign['datasource']);
  if (source.kind === 'other') {
    return {
      reason: `it queries the datasource ${source.name}; variables can query metrics and logs only`,
    };
  }
  const query = queryOf(foreign);
  if (query === '') {
    return { reason: 'it has no query' };
  }
  const regex = patternOf(text(foreign['regex'], 500));
  const { sort } = foreign;
  return {
    variable: {
      ...head,
      type: 'query',
      query,
      ...(source.kind === 'logs' && { store: 'logs' }),
      ...(regex !== '' && { regex }),
      ...(typeof sort === 'number' && sort > 0 && sort % 2 === 0 && { descending: true }),
    },
    notes: [],
  };
}

/** Of the forms in which Grafana keeps the query of a variable, the text. */
function queryOf(foreign: Foreign): string {
  const { query } = foreign;
  const written =
    text(typeof query === 'string' ? query : field(query, 'query'), 2_000) ||
    text(foreign['definition'], 2_000);
  if (written !== '') {
    return written;
  }
  // Loki keeps its parts: 1 is for the values of a label.
  const label = text(field(query, 'label'));
  const stream = text(field(query, 'stream'), 1_800);
  return field(query, 'type') !== 1 || label === ''
    ? ''
    : stream === ''
      ? `label_values(${label})`
      : `label_values(${stream}, ${label})`;
}

/** `a,b : 2,c\,d`: of a pair the second is the value, and the first its name. */
function valuesOf(foreign: Foreign): { readonly values: string[]; readonly texts: string[] } {
  const written = text(foreign['query'], 20_000);
  const items =
    foreign['type'] === 'constant'
      ? [written]
      : written
          .split(/(?<!\\),/)
          .map((item) => item.replaceAll('\\,', ',').trim())
          .filter((item) => item !== '');
  const named = items.map((item): readonly [text: string, value: string] => {
    const [, shown, value] = /^(.+?) : (.+)$/.exec(item) ?? [];
    return foreign['type'] === 'custom' && shown !== undefined
      ? [shown.trim(), value!.trim()]
      : [item, item];
  });
  const isAuto = foreign['type'] === 'interval' && foreign['auto'] === true;
  const byValue = new Map([
    ...(isAuto ? [['auto', 'auto'] as const] : []),
    ...named.map(([shown, value]) => [value.slice(0, 200), shown.slice(0, 200)] as const),
  ]);
  return {
    values: [...byValue.keys()].slice(0, 200),
    texts: [...byValue.values()].slice(0, 200),
  };
}

function problemOf(variable: Variable): string | undefined {
  try {
    assertVariables([variable]);
    return variable.values?.length === 0 ? 'it has no values' : undefined;
  } catch (error) {
    return messageOf(error);
  }
}
