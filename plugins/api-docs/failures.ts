import { type DescribedRoute, type ErrorCode, errorStatus } from 'svc/sdk';

import type { Named, Schema } from './named-schemas.ts';

/**
 * Returns the errors of a route, from the stages of the pipeline and from its handler, in the
 * format of the route's protocol.
 */
export function failures(route: DescribedRoute, named: Named): Record<string, object> {
  const reasons = new Map<number, Set<string>>();
  const shapes = new Map<number, Map<string, Schema | undefined>>();
  const add = (
    status: number,
    reason: string,
    type: string | undefined,
    schema: Schema | undefined,
  ): void => {
    reasons.set(status, (reasons.get(status) ?? new Set()).add(reason));
    if (type !== undefined) {
      const types = shapes.get(status) ?? new Map<string, Schema | undefined>();
      shapes.set(status, types.has(type) ? types : types.set(type, schema));
    }
  };
  for (const { code, status } of refusals(route)) {
    for (const answer of worded(route, code, status)) {
      add(
        answer.status,
        answer.status === status
          ? reasonOf(code, status)
          : `${code}, in the format of its protocol`,
        answer.type,
        answer.schema,
      );
    }
  }
  return Object.fromEntries(
    [...reasons].map(([status, set]) => [
      status,
      response(status, [...set].join(' or '), shapes.get(status), named),
    ]),
  );
}

const reasonOf = (code: ErrorCode, status: number): string =>
  errorStatus[code] === status ? code : `${code} (${plainly[status] ?? status})`;

const plainly: Readonly<Record<number, string>> = {
  410: 'Expired: the data is no longer stored',
  413: 'the body is too large',
  415: 'the body is of another media type or encoding',
  422: 'the body can be read, but not taken',
};

const response = (
  status: number,
  description: string,
  types: ReadonlyMap<string, Schema | undefined> | undefined,
  named: Named,
): object => {
  if (types === undefined) {
    return { description: `${description}; without a body` };
  }
  const content = Object.fromEntries(
    [...types].map(([type, schema]) => [type, { schema: schema ?? {} }]),
  );
  return named.response(status, { description, content });
};

interface Refusal {
  readonly code: ErrorCode;
  readonly status: number;
}

function refusals({
  access,
  path,
  kind,
  method,
  consumes,
  errors,
}: DescribedRoute): readonly Refusal[] {
  const takesBody = method !== 'GET' && (kind !== 'bytes' || consumes !== undefined);
  const codes: readonly (ErrorCode | false)[] = [
    // Every route refuses unknown parameters, and a body that it does not take.
    'invalid_argument',
    access !== 'public' && 'unauthorized',
    access !== 'public' && access !== 'known' && 'forbidden',
    path.includes('{') && 'not_found',
    method !== 'GET' && access !== 'public' && 'conflict',
    kind === 'events' && 'rate_limited',
    'unavailable',
    'internal',
  ];
  const usual = codes
    .filter((code) => code !== false)
    .map((code) => ({ code, status: errorStatus[code] }));
  const ofBodies = takesBody
    ? [413, 415].map((status): Refusal => ({ code: 'invalid_argument', status }))
    : [];
  const own = errors.flatMap((error): readonly Refusal[] =>
    typeof error === 'string'
      ? [{ code: error, status: errorStatus[error] }]
      : error >= 400
        ? [{ code: codeOf(error), status: error }]
        : [],
  );
  return [...usual, ...ofBodies, ...own];
}

/** The code behind a status that the table of codes does not have. */
const codeOf = (status: number): ErrorCode =>
  status === 410 ? 'not_found' : status >= 500 ? 'unavailable' : 'invalid_argument';

interface Worded {
  readonly status: number;
  readonly type: string | undefined;
  readonly schema: Schema | undefined;
}

/**
 * Error kinds that services report in addition to the code, and for which some protocols have
 * statuses of their own.
 */
const kinds = [undefined, 'bad_data', 'execution', 'too_large', 'timeout', 'canceled'];
const languages = [
  {},
  { 'content-type': 'application/json' },
  { 'content-type': 'application/x-protobuf' },
];

/** Returns the answer of the wording itself, so that the document matches it. */
function worded({ wording }: DescribedRoute, code: ErrorCode, status: number): readonly Worded[] {
  if (wording === undefined) {
    return [{ status, type: 'application/json', schema: { $ref: '#/components/schemas/Error' } }];
  }
  const able = code === 'invalid_argument' || code === 'unavailable' ? kinds : [undefined];
  return able.flatMap((kind) =>
    languages.map((headers) => {
      const {
        status: shown = status,
        type,
        body,
      } = wording({ code, status, message: 'cause and remedy', kind }, headers);
      const plain = type.split(';')[0]!;
      return {
        status: shown,
        type: body.length === 0 ? undefined : plain,
        schema: plain === 'application/json' ? shapeOf(JSON.parse(String(body))) : undefined,
      };
    }),
  );
}

function shapeOf(example: unknown): Schema {
  if (typeof example !== 'object' || example === null) {
    return { type: example === null ? 'null' : typeof example };
  }
  const properties = Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, shapeOf(value)]),
  );
  return { type: 'object', required: Object.keys(example), properties };
}
