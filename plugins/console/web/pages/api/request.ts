import { below } from '../../browser/base.ts';
import { ApiError, type Query } from '../../client/api.ts';
import { apiRequest as text } from '../../text/english/administration/api.ts';
import { say } from '../../text/words.ts';
import {
  type ApiDocument,
  asText,
  type FieldShape,
  fieldOf,
  type Operation,
  type Parameter,
  shapeOf,
  valueOf,
} from './document.ts';

/** Content of an operation's form; an empty text omits its field. */
export interface Draft {
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string>>;
  /** Body as one text, which replaces its fields. */
  readonly raw: string;
  readonly isRaw: boolean;
}

/** The form of an operation: fields for its parameters, and for its body where that is an object of JSON. */
export interface Plan {
  readonly parameters: readonly { readonly parameter: Parameter; readonly field: FieldShape }[];
  readonly type: string | undefined;
  readonly fields: readonly FieldShape[] | undefined;
  readonly draft: Draft;
}

const json = 'application/json';

export function planOf(operation: Operation, document: ApiDocument): Plan {
  const content = operation.requestBody?.content ?? {};
  const type = json in content ? json : Object.keys(content)[0];
  const sent = type === undefined ? undefined : content[type];
  const shape = sent && shapeOf(sent.schema, document);
  const fields =
    type !== json || shape?.properties === undefined
      ? undefined
      : Object.entries(shape.properties).map(([name, one]) =>
          fieldOf(name, one, shape.required?.includes(name) ?? false, document),
        );
  const example = (sent?.example ?? {}) as Readonly<Record<string, unknown>>;
  return {
    type,
    fields,
    parameters: operation.parameters.map((parameter) => ({
      parameter,
      field: {
        ...fieldOf(parameter.name, parameter.schema, parameter.required, document),
        hint: parameter.description ?? '',
      },
    })),
    draft: {
      parameters: Object.fromEntries(
        operation.parameters.map(({ name, example: value }) => [name, inAddress(value)]),
      ),
      body: Object.fromEntries(
        (fields ?? []).map(({ name, kind }) => [
          name,
          kind === 'json' ? asJson(example[name]) : asText(example[name]),
        ]),
      ),
      raw: sent?.example === undefined ? '' : JSON.stringify(sent.example, null, 2),
      isRaw: fields === undefined,
    },
  };
}

const asJson = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value));
/** A list stands in an address as its parts. */
const inAddress = (value: unknown): string =>
  Array.isArray(value) ? value.map(asText).join(',') : asText(value);

/** Request as it is sent, and as a shell command. */
export interface Prepared {
  readonly path: string;
  readonly query: Query;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Throws in words where a field cannot be read. */
export function prepared(
  operation: Operation,
  { parameters, type, fields }: Plan,
  draft: Draft,
): Prepared {
  const given = (place: Parameter['in']) =>
    parameters
      .filter(({ parameter }) => parameter.in === place)
      .map(({ parameter }) => [parameter, draft.parameters[parameter.name] ?? ''] as const);
  const missing = [...given('path'), ...given('query')].find(
    ([{ required }, value]) => required && value === '',
  );
  if (missing) {
    throw new ApiError(0, 'page', say(text.missing, { name: missing[0].name }));
  }
  const path = given('path').reduce(
    (whole, [{ name }, value]) => whole.replace(`{${name}}`, () => encodeURIComponent(value)),
    operation.path,
  );
  const query = Object.fromEntries(
    given('query').map(([{ name, schema }, value]) => [
      name,
      [schema.type].flat().includes('array') ? value.split(',').filter(Boolean) : value,
    ]),
  );
  const headers = Object.fromEntries(
    given('header').flatMap(([{ name }, value]) => (value === '' ? [] : [[name, value]])),
  );
  const body =
    type === undefined
      ? undefined
      : draft.isRaw || fields === undefined
        ? draft.raw
        : JSON.stringify(bodyOf(fields, draft.body));
  return {
    path,
    query,
    headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
    body,
  };
}

export const bodyOf = (
  fields: readonly FieldShape[],
  texts: Draft['body'],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    fields
      .filter(({ name }) => (texts[name] ?? '') !== '')
      .map((field) => [field.name, valueOf(field, texts[field.name]!)]),
  );

/** The same for a terminal, whose token is in `$TOKEN`. */
export function curlLine(
  { method, security }: Operation,
  { path, query, headers, body }: Prepared,
): string {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value]
        .flat()
        .flatMap((one) => (one === undefined || one === '' ? [] : [[name, String(one)]])),
    ),
  ).toString();
  return [
    ...['curl', ...(method === 'GET' ? [] : ['-X', method])],
    ...(security.length === 0 ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data ${quoted(body)}`]),
    quoted(`${location.origin}${below(path)}${search === '' ? '' : `?${search}`}`),
  ].join(' ');
}

/** One word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
