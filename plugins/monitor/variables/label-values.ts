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

/** A name as an expression has it. */
export const inPromql = (name: string): string =>
  plainName.test(name) ? name : JSON.stringify(name);
