import { compileRegex, parseDuration } from 'svc/query';

import type { Variable } from '../model/dashboard.ts';
import { errors } from '../model/errors.ts';
import { assertSource } from './value-source.ts';

/** Which of the optional fields each type reads; another one would have no effect. */
const fieldsOf: Readonly<Record<Variable['type'], readonly (keyof Variable)[]>> = {
  query: ['query', 'store', 'regex', 'default', 'multi', 'all', 'all_value', 'descending'],
  custom: ['values', 'texts', 'default', 'multi', 'all', 'all_value'],
  interval: ['values', 'texts', 'default'],
  text: ['default'],
  constant: ['values', 'texts'],
  datasource: ['values', 'texts', 'default'],
  adhoc: [],
};

const optional = [
  'query',
  'store',
  'regex',
  'values',
  'texts',
  'default',
  'multi',
  'all',
  'all_value',
  'descending',
] as const;

const listed: readonly Variable['type'][] = ['custom', 'interval', 'constant', 'datasource'];

/** Choose by themselves: as long as a step is. */
export const auto = 'auto';

/** Throws unless every variable can be resolved and has its name to itself. */
export function assertVariables(variables: readonly Variable[]): void {
  const names = new Set<string>();
  for (const variable of variables) {
    const complain = (what: string): never => {
      throw errors.variable_form({ name: variable.name, what });
    };
    const { name, type } = variable;
    if (names.has(name)) {
      complain('is there twice');
    }
    names.add(name);
    for (const field of optional) {
      if (variable[field] !== undefined && !fieldsOf[type].includes(field)) {
        complain(`is of type ${type}, which has no ${field}`);
      }
    }
    if (type === 'query') {
      assertSource(variable.query ?? complain('needs a query: label_values(selector, label)'));
      if (variable.regex !== undefined) {
        compileRegex(variable.regex);
      }
    }
    if (listed.includes(type) && variable.values === undefined) {
      complain('needs values');
    }
    if (type === 'interval') {
      variable.values?.filter((value) => value !== auto).forEach(parseDuration);
    }
    if (
      variable.default !== undefined &&
      variable.values !== undefined &&
      !variable.values.includes(variable.default)
    ) {
      complain(`has the default ${variable.default}, which is not one of its values`);
    }
  }
}
