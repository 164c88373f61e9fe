import { errors } from '../model/errors.ts';
import { type Bindings, insert } from './insertion.ts';

export interface LabelValues {
  /** Selector of the series; empty means every series that has the label. */
  readonly selector: string;
  readonly label: string;
}

/**
 * Matches the label, which comes last: in quotes, or a word without characters that have a meaning
 * in a selector.
 */
const form =
  /^\s*label_values\s*\((?:([^]*),)?\s*(?:"((?:[^"\\]|\\.)+)"|([^\s,"'`(){}[\]=]+))\s*\)\s*$/;
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The query of a variable: `label_values(up{job="node"}, instance)`, `label_values(http.method)`. */
export function labelValues(query: string): LabelValues {
  const [found, selector = '', quoted, plain] = form.exec(query) ?? [];
  const label = plain ?? quoted?.replaceAll(/\\(.)/g, '$1');
  if (found === undefined || label === undefined) {
    throw errors.label_values_form({ query: JSON.stringify(query.slice(0, 100)) });
  }
  return { selector: selector.trim(), label };
}

/** The series whose labels are asked for, with the values of other variables put in. */
export const seriesOf = ({ selector, label }: LabelValues, bindings: Bindings): string =>
  selector === '' ? `{${inPromql(label)}!=""}` : insert(selector, bindings);

/** Where the values of a variable come from; the forms are those of Grafana. */
export type ValueSource =
  | ({ readonly kind: 'label_values' } & LabelValues)
  /** Names of the labels of all series, or of those of one metric. */
  | { readonly kind: 'label_names'; readonly pattern: string }
  | { readonly kind: 'metrics'; readonly pattern: string }
  /** Every result of a query, written out with its labels and value. */
  | { readonly kind: 'results'; readonly query: string }
  /** Every series of a selector, written out. */
  | { readonly kind: 'series'; readonly query: string };

const call = /^\s*(label_values|label_names|metrics|query_result)\s*\(([^]*)\)\s*$/;

export function sourceOf(query: string): ValueSource {
  const [, name, inside = ''] = call.exec(query) ?? [];
  switch (name) {
    case 'label_values':
      return { kind: name, ...labelValues(query) };
    case 'label_names':
    case 'metrics':
      return { kind: name, pattern: inside.trim() };
    case 'query_result':
      return { kind: 'results', query: inside.trim() };
    default:
      // A call that does not end, or a word in front of nothing.
      return /^\s*label_values\b/.test(query)
        ? { kind: 'label_values', ...labelValues(query) }
        : { kind: 'series', query: query.trim() };
  }
}

/** Throws unless the text is one of the forms. */
export const assertSource = (query: string): void => void sourceOf(query);

/** A name as an expression has it. */
export const inPromql = (name: string): string =>
  plainName.test(name) ? name : JSON.stringify(name);
