import { parseForeignYaml } from 'svc/foreign-yaml';
import { parseDuration } from 'svc/query';
import { messageOf, type SvcError } from 'svc/sdk';

import { errors } from './errors.ts';

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

const groupFields = [
  'name',
  'interval',
  'limit',
  'labels',
  'query_offset',
  'rules',
  'partial_response_strategy',
];
const ruleFields = ['alert', 'record', 'expr', 'for', 'keep_firing_for', 'labels', 'annotations'];

/** Max lexemes, some fifty for an alert: each takes the parser 200 bytes and more of memory while it reads. */
const lexemes = 250_000;

/** Parses a plain YAML document into Maps: no aliases that grow, no own types. */
export function readYaml(text: string, what: string): unknown {
  try {
    return parseForeignYaml(text, { mapAsMap: true, merge: true, lexemes });
  } catch (cause) {
    const problem = { what, cause: messageOf(cause) };
    throw cause instanceof RangeError
      ? errors.yaml_too_large(problem, { cause })
      : cause instanceof SyntaxError
        ? errors.not_yaml(problem)
        : errors.unreadable(problem, { cause });
  }
}

/**
 * Parses a rule file; throws invalid_argument with the position if it is invalid, as promtool does.
 * Unknown fields are refused unless `strict` is false.
 */
export function readRuleFile(
  text: string,
  { strict = true }: { readonly strict?: boolean } = {},
): RuleFile {
  const { fields, path } = groupsIn(fieldsOf(readYaml(text, 'the rule file'), 'the rule file'));
  const refuse = strict ? refuseOthers : () => undefined;
  refuse(fields, ['groups'], path);
  const groups = fields.get('groups') ?? (path === '' ? undefined : []);
  if (!Array.isArray(groups)) {
    throw wrong(
      within(path, 'groups'),
      'must be a list: a rule file is a list of groups with rules',
    );
  }
  const read = groups.map((group, index) =>
    readGroup(group, `${within(path, 'groups')}[${index}]`, refuse),
  );
  const names = new Set<string>();
  const twice = read.find(({ name }) => names.size === names.add(name).size);
  if (twice !== undefined) {
    throw wrong(within(path, 'groups'), `has two groups of the name ${twice.name}`);
  }
  return { groups: read };
}

/** A PrometheusRule object of a cluster holds the groups in its spec. */
function groupsIn(root: Fields): { readonly fields: Fields; readonly path: string } {
  return root.get('kind') === 'PrometheusRule'
    ? { fields: fieldsOf(root.get('spec') ?? new Map(), 'spec'), path: 'spec' }
    : { fields: root, path: '' };
}

const within = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function readGroup(value: unknown, path: string, refuse: typeof refuseOthers): RuleGroup {
  const fields = fieldsOf(value, path);
  refuse(fields, groupFields, path);
  const rules = fields.get('rules') ?? [];
  if (!Array.isArray(rules)) {
    throw wrong(`${path}.rules`, 'must be a list');
  }
  const name = textOf(fields, 'name', path) ?? '';
  if (name === '') {
    throw wrong(`${path}.name`, 'is missing');
  }
  const limit = Number(fields.get('limit') ?? 0);
  if (!Number.isInteger(limit)) {
    throw wrong(`${path}.limit`, 'must be a whole number');
  }
  return {
    name,
    ...optional('interval', spanOf(fields, 'interval', path)),
    ...optional('queryOffset', spanOf(fields, 'query_offset', path)),
    limit: Math.max(0, limit),
    labels: labelsOf(fields, path),
    rules: rules.map((rule, index) => readRule(rule, `${path}.rules[${index}]`, refuse)),
  };
}

function readRule(value: unknown, path: string, refuse: typeof refuseOthers): FileRule {
  const fields = fieldsOf(value, path);
  refuse(fields, ruleFields, path);
  const expr = textOf(fields, 'expr', path);
  const [alert = '', record = ''] = [textOf(fields, 'alert', path), textOf(fields, 'record', path)];
  if (expr === undefined || expr.trim() === '') {
    throw wrong(`${path}.expr`, 'is missing');
  }
  if ((alert === '') === (record === '')) {
    throw wrong(path, 'must have either alert or record');
  }
  const annotations = textsOf(fields, 'annotations', path);
  assertNames(Object.keys(annotations), annotationName, `${path}.annotations`);
  if (record !== '') {
    assertRecording(fields, record, path);
  }
  return {
    expr,
    ...(alert === '' ? { record } : { alert }),
    ...optional('for', spanOf(fields, 'for', path)),
    ...optional('keepFiringFor', spanOf(fields, 'keep_firing_for', path)),
    labels: labelsOf(fields, path),
    annotations,
  };
}

function assertRecording(fields: Fields, record: string, path: string): void {
  const spans = ['for', 'keep_firing_for'].filter(
    (name) => parseDuration(textOf(fields, name, path) ?? '0') > 0,
  );
  const idle =
    spans[0] ??
    (Object.keys(textsOf(fields, 'annotations', path)).length > 0 ? 'annotations' : undefined);
  if (idle !== undefined) {
    throw wrong(`${path}.${idle}`, 'has no meaning in a recording rule');
  }
  // A selector there is meant for the expression.
  if (!anyName.test(record) || /[{}]/.test(record)) {
    throw wrong(`${path}.record`, `is not a name of a metric: ${record.slice(0, 60)}`);
  }
}

function labelsOf(fields: Fields, path: string): Readonly<Record<string, string>> {
  const labels = textsOf(fields, 'labels', path);
  assertNames(Object.keys(labels), anyName, `${path}.labels`);
  if (Object.hasOwn(labels, '__name__')) {
    throw wrong(`${path}.labels`, 'must not have __name__');
  }
  return labels;
}

/** Names as Prometheus allows them since version 3. */
const anyName = /^\P{Cc}{1,100}$/u;
const annotationName = /^[A-Za-z_][\w.-]*$/;

function assertNames(names: readonly string[], form: RegExp, path: string): void {
  const bad = names.find((name) => !form.test(name));
  if (bad !== undefined) {
    throw wrong(path, `has a name that is not valid for a label: ${bad.slice(0, 60)}`);
  }
}

function spanOf(fields: Fields, name: string, path: string): string | undefined {
  const text = textOf(fields, name, path);
  if (text === undefined) {
    return undefined;
  }
  try {
    parseDuration(text);
    return text;
  } catch {
    throw wrong(
      `${path}.${name}`,
      `is not a duration such as 30s, 5m or 1h30m: ${text.slice(0, 40)}`,
    );
  }
}

/** A field that is misspelt would be a rule without it. */
function refuseOthers(fields: Fields, known: readonly string[], path: string): void {
  const unknown = [...fields.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw wrong(within(path, unknown), `is not a known field; known are ${known.join(', ')}`);
  }
}

const optional = <const N extends string>(
  name: N,
  value: string | undefined,
): { readonly [K in N]?: string } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [K in N]: string });

export function fieldsOf(value: unknown, path: string): Fields {
  if (!(value instanceof Map)) {
    throw wrong(path, 'must have named fields');
  }
  return new Map(
    [...(value as Map<unknown, unknown>)].map(([name, field]) => [String(name), field]),
  );
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

export function textsOf(
  fields: Fields,
  name: string,
  path: string,
): Readonly<Record<string, string>> {
  const value = fields.get(name);
  if (value === undefined || value === null) {
    return {};
  }
  const texts = fieldsOf(value, `${path}.${name}`);
  return Object.fromEntries(
    [...texts.keys()].map((key) => [key, textOf(texts, key, `${path}.${name}`) ?? '']),
  );
}

export const wrong = (path: string, message: string): SvcError =>
  errors.file_field({ path, message }, { details: [{ path: `/${path}`, message }] });
