import { SvcError } from 'svc/sdk';

import { type Bindings, insert } from './insertion.ts';

export interface LabelValues {
  /** Whose values; empty: those of every series that has the label. */
  readonly selector: string;
  readonly label: string;
}

const form = /^\s*label_values\s*\(([^]*)\)\s*$/;
const labelName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The query of a variable: `label_values(up{job="node"}, instance)`. Labels have no comma, so the last one divides. */
export function labelValues(query: string): LabelValues {
  const inside = form.exec(query)?.[1];
  const comma = inside?.lastIndexOf(',') ?? -1;
  const label = inside?.slice(comma + 1).trim() ?? '';
  if (inside === undefined || !labelName.test(label)) {
    throw new SvcError('invalid_argument', `${JSON.stringify(query.slice(0, 100))} is not label_values(label) or label_values(selector, label)`);
  }
  return { selector: comma < 0 ? '' : inside.slice(0, comma).trim(), label };
}

/** The series whose labels are asked for, with the values of other variables put in. */
export const seriesOf = ({ selector, label }: LabelValues, bindings: Bindings): string => (selector === '' ? `{${label}!=""}` : insert(selector, bindings));
