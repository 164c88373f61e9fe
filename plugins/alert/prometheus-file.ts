import { messageOf, SvcError } from 'svc/sdk';
import { parseDocument } from 'yaml';

/** A rule file of Prometheus. */
export interface RuleFile {
  readonly groups: readonly RuleGroup[];
}

export interface RuleGroup {
  readonly name: string;
  readonly interval?: string;
  readonly limit: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly queryOffset?: string;
  readonly rules: readonly FileRule[];
}

export interface FileRule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keepFiringFor?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

type Fields = ReadonlyMap<string, unknown>;

const groupFields = ['name', 'interval', 'limit', 'labels', 'query_offset', 'rules', 'partial_response_strategy'];
const ruleFields = ['alert', 'record', 'expr', 'for', 'keep_firing_for', 'labels', 'annotations'];

/** A plain YAML document of Maps: no aliases that grow, no own types. */
export function readYaml(text: string, what: string): unknown {
  const document = parseDocument(text, { logLevel: 'silent', prettyErrors: true, customTags: [], uniqueKeys: true, merge: true });
  const [error] = document.errors;
  if (error !== undefined) {
    throw new SvcError('invalid_argument', `${what} is not YAML: ${error.message.split('\n')[0]!}`);
  }
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: 50 });
  } catch (cause) {
    throw new SvcError('invalid_argument', `${what} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** Throws invalid_argument, naming the place, for what is not a rule file. */
export function readRuleFile(text: string): RuleFile {
  const root = fieldsOf(readYaml(text, 'the rule file'), 'the rule file');
  const groups = root.get('groups');
  if (!Array.isArray(groups)) {
    throw wrong('groups', 'must be a list: a rule file is a list of groups with rules');
  }
  return { groups: groups.map((group, index) => readGroup(group, `groups[${index}]`)) };
}

function readGroup(value: unknown, path: string): RuleGroup {
  const fields = fieldsOf(value, path);
  refuseOthers(fields, groupFields, path);
  const rules = fields.get('rules') ?? [];
  if (!Array.isArray(rules)) {
    throw wrong(`${path}.rules`, 'must be a list');
  }
  return {
    name: textOf(fields, 'name', path) ?? '',
    ...optional('interval', textOf(fields, 'interval', path)),
    ...optional('queryOffset', textOf(fields, 'query_offset', path)),
    limit: Number(fields.get('limit') ?? 0),
    labels: textsOf(fields, 'labels', path),
    rules: rules.map((rule, index) => readRule(rule, `${path}.rules[${index}]`)),
  };
}

function readRule(value: unknown, path: string): FileRule {
  const fields = fieldsOf(value, path);
  refuseOthers(fields, ruleFields, path);
  const expr = textOf(fields, 'expr', path);
  const [alert, record] = [textOf(fields, 'alert', path), textOf(fields, 'record', path)];
  if (expr === undefined || expr.trim() === '') {
    throw wrong(`${path}.expr`, 'is missing');
  }
  if ((alert === undefined) === (record === undefined)) {
    throw wrong(path, 'must have either alert or record');
  }
  return {
    expr,
    ...optional('alert', alert),
    ...optional('record', record),
    ...optional('for', textOf(fields, 'for', path)),
    ...optional('keepFiringFor', textOf(fields, 'keep_firing_for', path)),
    labels: textsOf(fields, 'labels', path),
    annotations: textsOf(fields, 'annotations', path),
  };
}

/** A field that is misspelt would be a rule without it. */
function refuseOthers(fields: Fields, known: readonly string[], path: string): void {
  const unknown = [...fields.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw wrong(`${path}.${unknown}`, `is not a known field; known are ${known.join(', ')}`);
  }
}

const optional = <const N extends string>(name: N, value: string | undefined): { readonly [K in N]?: string } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [K in N]: string });

export function fieldsOf(value: unknown, path: string): Fields {
  if (!(value instanceof Map)) {
    throw wrong(path, 'must have named fields');
  }
  return new Map([...(value as Map<unknown, unknown>)].map(([name, field]) => [String(name), field]));
}

/** A number or a truth value is as good as the text that it was written as. */
export function textOf(fields: Fields, name: string, path: string): string | undefined {
  const value = fields.get(name);
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value === 'object') {
    throw wrong(`${path}.${name}`, 'must be a text');
  }
  const scalar = value as string | number | boolean;
  return String(scalar);
}

export function textsOf(fields: Fields, name: string, path: string): Readonly<Record<string, string>> {
  const value = fields.get(name);
  if (value === undefined || value === null) {
    return {};
  }
  const texts = fieldsOf(value, `${path}.${name}`);
  return Object.fromEntries([...texts.keys()].map((key) => [key, textOf(texts, key, `${path}.${name}`) ?? '']));
}

export const wrong = (path: string, message: string): SvcError =>
  new SvcError('invalid_argument', `${path} ${message}`, { details: [{ path: `/${path}`, message }] });
