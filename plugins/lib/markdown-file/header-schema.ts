import { Ajv, type ErrorObject, type SchemaObject, type ValidateFunction } from 'ajv';
import { isSvcError, SvcError } from 'svc/sdk';

import { errors as markdownFileErrors } from './errors.ts';
import { readFrontMatter } from './front-matter.ts';

/** Names the file in every sentence about it. */
export interface Where {
  readonly file: string;
}

export interface HeaderSchema extends SchemaObject {
  readonly properties: Readonly<Record<string, SchemaObject>>;
}

export interface MarkdownFile<Known> {
  /** Keys of the schema, checked and defaulted. */
  readonly known: Known;
  /** All other keys, as they came. */
  readonly others: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** `expects` in a schema ends the sentence "<field> must be …". */
const ajv = new Ajv({
  meta: false,
  validateSchema: false,
  useDefaults: true,
  allErrors: true,
  verbose: true,
  strict: true,
  allowUnionTypes: true,
  keywords: ['expects'],
});

const namedProblems = 3;

/** Makes the reader of one kind of markdown file: header by schema, body untouched. */
export function markdownReader<Known>(
  schema: HeaderSchema,
): (text: string, where: Where) => MarkdownFile<Known> {
  const read = headerReader<Known>(schema);
  return (text, where) => {
    const { header, body } = split(text, where);
    return { ...read(header, where), body };
  };
}

/** The same for a header that comes as an object. */
export function headerReader<Known>(
  schema: HeaderSchema,
): (header: Readonly<Record<string, unknown>>, where: Where) => Omit<MarkdownFile<Known>, 'body'> {
  // At the first file: without files the start does not need it.
  let fits: ValidateFunction<Known> | undefined;
  return (header, where) => {
    fits ??= ajv.compile<Known>(schema);
    const known: unknown = Object.fromEntries(
      Object.entries(header).filter(([key, value]) => isKnown(schema, key) && value !== null),
    );
    if (!fits(known)) {
      throw unfit(where, schema, fits.errors ?? []);
    }
    // Values from the header are frozen already; a default is not.
    Object.values(known as object).forEach(Object.freeze);
    const others = Object.fromEntries(
      Object.entries(header).filter(([key]) => !isKnown(schema, key)),
    );
    return { known, others: Object.freeze(others) };
  };
}

const isKnown = (schema: HeaderSchema, key: string): boolean =>
  Object.hasOwn(schema.properties, key);

function split(text: string, where: Where) {
  try {
    return readFrontMatter(text);
  } catch (error) {
    throw isSvcError(error) ? new SvcError(error.code, `${where.file}: ${error.message}`) : error;
  }
}

function unfit(where: Where, schema: HeaderSchema, errors: readonly ErrorObject[]): SvcError {
  const byPath = new Map(errors.map((error) => [pathOf(error), error]));
  const details = [...byPath]
    .slice(0, namedProblems)
    .map(([path, error]) => ({ path, message: sentence(error, schema) }));
  return markdownFileErrors.front_matter(
    { file: where.file, list: details.map((detail) => detail.message).join('; ') },
    { details },
  );
}

function sentence(error: ErrorObject, schema: HeaderSchema): string {
  if (error.keyword === 'required') {
    const name = missing(error);
    return `${name} is missing; add a line "${name}: …" to the header (${String(schema.properties[name]?.['expects'])})`;
  }
  const field = error.instancePath.slice(1).replaceAll('/', '.');
  return `${field} must be ${expectation(error)}; got ${shown(error.data)}`;
}

function expectation({ parentSchema = {} }: ErrorObject): string {
  const choices = parentSchema['enum'] as readonly string[] | undefined;
  return choices ? `one of ${choices.join(', ')}` : String(parentSchema['expects']);
}

const missing = (error: ErrorObject): string =>
  (error.params as { missingProperty: string }).missingProperty;

const pathOf = (error: ErrorObject): string =>
  error.keyword === 'required' ? `${error.instancePath}/${missing(error)}` : error.instancePath;

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
