import type { Variable } from '../model/dashboard.ts';
import type { Foreign } from '../frames/foreign-json.ts';
import type { Sources } from './sources.ts';

/** Returns a variable as Grafana takes it. */
export function variableJson(variable: Variable, sources: Sources): Foreign {
  const { name, title, type, query = '', regex, store, values = [], texts } = variable;
  const { default: usual, multi = false, all = false, all_value: pattern, hide } = variable;
  const head = {
    name,
    ...(title !== undefined && { label: title }),
    ...(hide !== undefined && { hide: hide === 'label' ? 1 : 2 }),
  };
  const current = usual === undefined ? {} : { current: { text: usual, value: usual } };
  const several = {
    multi,
    includeAll: all,
    ...(pattern !== undefined && { allValue: pattern }),
  };
  switch (type) {
    case 'query':
      return {
        ...head,
        type,
        datasource:
          store === 'logs'
            ? { type: 'loki', uid: sources.logs }
            : { type: 'prometheus', uid: sources.metrics },
        query: { query, refId: name },
        definition: query,
        refresh: 2,
        sort: variable.descending === true ? 4 : 1,
        ...several,
        ...current,
        ...(regex !== undefined && { regex: `/${regex}/` }),
      };
    case 'custom':
    case 'interval': {
      const isAuto = type === 'interval' && values.includes('auto');
      const items = values.flatMap((value, at) =>
        isAuto && value === 'auto'
          ? []
          : [
              (texts?.[at] !== undefined && texts[at] !== value
                ? `${texts[at]} : ${value}`
                : value
              ).replaceAll(',', String.raw`\,`),
            ],
      );
      return {
        ...head,
        type,
        query: items.join(','),
        ...(type === 'custom' ? several : { auto: isAuto }),
        ...current,
      };
    }
    case 'constant':
      return { ...head, type, query: values[0] ?? '' };
    case 'datasource':
      return {
        ...head,
        type,
        query: 'prometheus',
        current: { text: values[0] ?? 'default', value: values[0] ?? 'default' },
      };
    case 'adhoc':
      return { ...head, type, datasource: { type: 'prometheus', uid: sources.metrics } };
    default:
      return { ...head, type: 'textbox', query: usual ?? '', ...current };
  }
}
