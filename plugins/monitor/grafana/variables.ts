import { messageOf } from 'svc/sdk';

import type { Variable } from '../model/dashboard.ts';
import { assertVariables } from '../variables/variable-rules.ts';
import type { Datasource } from './datasource.ts';
import { field, type Foreign, objects, text } from './json.ts';
import type { LeftOut, TakenVariable } from './report.ts';

export interface Variables {
  readonly taken: readonly TakenVariable[];
  readonly leftOut: readonly LeftOut[];
}

const most = 20;
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
  const head = { name, ...(label !== '' && { title: label }) };
  const several = {
    ...(foreign['multi'] === true && { multi: true }),
    ...(foreign['includeAll'] === true && { all: true }),
  };
  const notes: string[] = [];
  if (text(foreign['allValue']) !== '') {
    notes.push('its own pattern for all values: all values, or .+ for many, are used instead');
  }
  switch (type) {
    case 'query': {
      const source = datasource(foreign['datasource']);
      if (source.kind === 'logs' || source.kind === 'other') {
        return {
          reason: `it queries ${source.kind === 'other' ? `the datasource ${source.name}` : 'a log store'}; variables can query the metrics store only`,
        };
      }
      const query =
        text(
          typeof foreign['query'] === 'string'
            ? foreign['query']
            : field(foreign, 'query', 'query'),
          2_000,
        ) || text(foreign['definition'], 2_000);
      if (!/^label_values\s*\(/.test(query)) {
        return {
          reason: `of its queries only label_values(…) is supported, not ${query.slice(0, 60) || 'an empty one'}`,
        };
      }
      const regex = regexOf(text(foreign['regex'], 500));
      return {
        variable: { ...head, type, query, ...(regex !== '' && { regex }), ...several },
        notes,
      };
    }
    case 'custom':
    case 'interval':
    case 'constant': {
      const values = valuesOf(foreign, notes);
      const chosen = text(field(foreign, 'current', 'value'));
      const usual = values.includes(chosen) ? { default: chosen } : {};
      const isInterval = type === 'interval';
      return {
        variable: {
          ...head,
          type: isInterval ? type : 'custom',
          values,
          ...usual,
          ...(!isInterval && several),
        },
        notes,
      };
    }
    case 'textbox': {
      const usual = text(foreign['query']);
      return {
        variable: { ...head, type: 'text', ...(usual !== '' && { default: usual }) },
        notes,
      };
    }
    case 'datasource':
      return { reason: 'there is only one store of each kind here, so there is nothing to choose' };
    default:
      return { reason: `variables of type ${type || 'unknown'} are not supported` };
  }
}

/** `a,b : 2,c\,d`: of a pair the value counts. */
function valuesOf(foreign: Foreign, notes: string[]): string[] {
  const items = text(foreign['query'], 20_000)
    .split(/(?<!\\),/)
    .map((item) => item.replaceAll('\\,', ',').trim())
    .filter((item) => item !== '');
  const values =
    foreign['type'] === 'custom'
      ? items.map((item) => / : (.+)$/.exec(item)?.[1]?.trim() ?? item)
      : items;
  if (values.some((value, index) => value !== items[index])) {
    notes.push('the display names of its values');
  }
  const auto = foreign['type'] === 'interval' && foreign['auto'] === true ? ['auto'] : [];
  return [...auto, ...new Set(values.map((value) => value.slice(0, 200)))].slice(0, 200);
}

/** Grafana writes `/…/`; a flag is written before the pattern here. */
function regexOf(written: string): string {
  const [, body, flags = ''] = /^\/([^]*)\/([a-z]*)$/.exec(written) ?? [];
  return body === undefined ? written : flags.includes('i') ? `(?i)${body}` : body;
}

function problemOf(variable: Variable): string | undefined {
  try {
    assertVariables([variable]);
    return variable.values?.length === 0 ? 'it has no values' : undefined;
  } catch (error) {
    return messageOf(error);
  }
}
