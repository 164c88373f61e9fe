import { field, type Foreign, isObject, objects, text } from '../frames/foreign-json.ts';

/** Target of a query: our stores, or one that is not known here. */
export type Datasource =
  | { readonly kind: 'metrics' | 'logs' | 'any' }
  | { readonly kind: 'other'; readonly name: string };

/** Finds out what a dashboard means by its datasources: objects, names, `$ds`, `${DS_PROM}`. */
export function datasources(dashboard: Foreign): (value: unknown) => Datasource {
  const types = new Map<string, string>();
  for (const input of objects(field(dashboard, '__inputs'))) {
    types.set(text(input['name']), text(input['pluginId']));
  }
  for (const variable of objects(field(dashboard, 'templating', 'list'))) {
    if (variable['type'] === 'datasource') {
      types.set(text(variable['name']), text(variable['query']));
    }
  }

  return (value) => {
    const uid = isObject(value) ? text(value['uid']) : text(value);
    const name = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(uid)?.[1];
    const type =
      (isObject(value) ? text(value['type']) : '') ||
      (name !== undefined ? (types.get(name) ?? '') : '');
    if (/prometheus|victoriametrics/i.test(type)) {
      return { kind: 'metrics' };
    }
    if (/^loki$/i.test(type)) {
      return { kind: 'logs' };
    }
    // A bare name, or the default one: its type shows in the query.
    return type === '' && !/^(?:__expr__|-- (?:Mixed|Grafana|Dashboard) --|grafana)$/.test(uid)
      ? { kind: 'any' }
      : { kind: 'other', name: type || uid };
  };
}
