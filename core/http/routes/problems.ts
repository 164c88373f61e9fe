import type { ErrorObject } from 'ajv/dist/2020.js';

import type { FieldProblem } from '../../sdk/index.ts';

/** The validator's findings as sentences about fields; a value is never repeated, it may be a secret. */
export function problemsOf(
  errors: readonly ErrorObject[] | null | undefined,
): readonly FieldProblem[] {
  const found = errors ?? [];
  const unions = found.filter((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf');
  const problems = unions.flatMap((union) => unionProblems(union, found));
  for (const error of found) {
    const withinUnion = unions.some((union) => error === union || isBranch(error, union));
    if (!withinUnion && error.keyword !== 'if') {
      problems.push(problemOf(error));
    }
  }
  return distinct(problems);
}

/** A union of constants is a choice; of another union the branch that came closest is shown. */
function unionProblems(union: ErrorObject, found: readonly ErrorObject[]): FieldProblem[] {
  const branches = found.filter((error) => isBranch(error, union));
  const constants = branches.filter(
    (error) => error.keyword === 'const' && error.instancePath === union.instancePath,
  );
  if (
    branches.length > 0 &&
    constants.length + branches.filter((error) => error.keyword === 'type').length ===
      branches.length &&
    constants.length > 0
  ) {
    return [
      {
        path: union.instancePath,
        message: choice(constants.map((error) => error.params.allowedValue as unknown)),
      },
    ];
  }
  const inside = branches.filter(
    (error) =>
      error.keyword !== 'const' &&
      (error.keyword !== 'type' || error.instancePath !== union.instancePath),
  );
  return inside.length > 0
    ? inside.map(problemOf)
    : [{ path: union.instancePath, message: 'matches none of the accepted shapes' }];
}

const isBranch = (error: ErrorObject, union: ErrorObject): boolean =>
  error !== union && error.schemaPath.startsWith(`${union.schemaPath}/`);

function problemOf({
  instancePath,
  keyword,
  params,
  message,
  parentSchema,
}: ErrorObject): FieldProblem {
  const field = (params.missingProperty ??
    params.additionalProperty ??
    params.unevaluatedProperty) as string | undefined;
  if (field === undefined) {
    return {
      path: instancePath,
      message:
        sentences[keyword]?.(params, { examples: parentSchema?.['examples'] }) ??
        message ??
        'is not valid',
    };
  }
  const path = `${instancePath}/${field.replaceAll('~', '~0').replaceAll('/', '~1').slice(0, 100)}`;
  return { path, message: 'missingProperty' in params ? 'is required' : 'is not a known field' };
}

const leastOf = (limit: unknown, things: string): string =>
  limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} ${things}`;

const sentences: Readonly<
  Record<
    string,
    (params: Record<string, unknown>, schema: { readonly examples?: readonly string[] }) => string
  >
> = {
  type: ({ type }) => `must be ${[type].flat().map(typeName).join(' or ')}`,
  enum: ({ allowedValues }) => choice(allowedValues as unknown[]),
  const: ({ allowedValue }) => choice([allowedValue]),
  minLength: ({ limit }) => leastOf(limit, 'characters'),
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  minItems: ({ limit }) => leastOf(limit, 'entries'),
  maxItems: ({ limit }) => `must have at most ${String(limit)} entries`,
  uniqueItems: () => 'must not repeat an entry',
  format: ({ format }) => `must be a valid ${String(format)}`,
  pattern: ({ pattern }, { examples: [example] = [] }) =>
    example === undefined ? rightText(String(pattern)) : `must be written like ${example}`,
};

/** Describes the valid text; a regular expression does not help people who have to write it. */
const rightText = (text: string): string =>
  text === '\\S'
    ? 'must not be blank'
    : /Cc/.test(text)
      ? 'must have no control characters'
      : `must match ${text}`;

const choice = (values: readonly unknown[]): string =>
  values.length === 1 ? `must be ${String(values[0])}` : `must be one of ${values.join(', ')}`;

const typeName = (type: unknown): string =>
  /^[aio]/.test(String(type))
    ? `an ${String(type)}`
    : type === 'null'
      ? 'null'
      : `a ${String(type)}`;

/** Names of fields are the caller's text, and errors go into logs and the audit trail. */
const longestPath = 300;
const bounded = ({ path, message }: FieldProblem): FieldProblem => ({
  path: path.length > longestPath ? `${path.slice(0, longestPath)}…` : path,
  message,
});

function distinct(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const seen = new Map(
    problems.map(bounded).map((problem) => [`${problem.path} ${problem.message}`, problem]),
  );
  return [...seen.values()];
}
