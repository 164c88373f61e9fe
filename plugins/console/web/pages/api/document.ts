import { ApiError } from '../../client/api.ts';

/** Part of the API document that the page needs. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

/** `public`, `any`, a permission, or one that depends. */
type Access = string | { readonly action?: string; readonly self?: string };

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly 'x-svc-access': Access;
  readonly 'x-svc-plugin': string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: Schema; readonly example?: unknown }>
    >;
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

export interface Operation extends Described {
  readonly method: string;
  readonly path: string;
}

/** Returns the operations that a page can call; it cannot open those that become a WebSocket. */
export const operationsOf = ({ paths }: ApiDocument): readonly Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => !('101' in responses))
      .map(([method, described]) => ({ ...described, method: method.toUpperCase(), path })),
  );

/** Resolves a schema reference. */
export function shapeOf(schema: Schema, { components }: ApiDocument): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (components.schemas[name] ?? {});
}

/** Returns the required permission, in the words of the document. */
export const accessOf = ({ 'x-svc-access': access }: Described): string =>
  typeof access === 'string' ? access : [access.action, access.self].filter(Boolean).join(', ');

/** One field of a form, of the address or of the body. */
export interface FieldShape {
  readonly name: string;
  readonly kind: 'text' | 'number' | 'choice' | 'json';
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  readonly hint: string;
}

/** Returns the form field for a value of this shape. */
export function fieldOf(
  name: string,
  given: Schema,
  isRequired: boolean,
  document: ApiDocument,
): FieldShape {
  const schema = shapeOf(given, document);
  const types = [schema.type ?? []].flat();
  const type = types.find((one) => one !== 'null');
  const choices = schema.enum?.map(String) ?? (type === 'boolean' ? ['true', 'false'] : []);
  const kind =
    choices.length > 0
      ? 'choice'
      : type === 'integer' || type === 'number'
        ? 'number'
        : type === 'string'
          ? 'text'
          : 'json';
  return { name, kind, choices, isRequired, hint: given.description ?? schema.description ?? '' };
}

/** Returns a value as shown in a field. */
export const asText = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/**
 * Converts the content of a field to a value of a body; throws with the name of the field if it is
 * not JSON.
 */
export function valueOf({ name, kind, choices }: FieldShape, text: string): unknown {
  switch (kind) {
    case 'text':
      return text;
    case 'number':
      return Number(text);
    case 'choice':
      return text === 'true' || text === 'false'
        ? choices.length === 2 && choices.includes('false')
          ? text === 'true'
          : text
        : text;
    case 'json':
      try {
        return JSON.parse(text) as unknown;
      } catch (error) {
        throw new ApiError(0, 'page', `${name}: ${(error as Error).message}`);
      }
  }
}

/** Returns the colour of a method's effect: it reads, changes or deletes. */
export const toneOf = (method: string): 'info' | 'warning' | 'critical' =>
  method === 'GET' ? 'info' : method === 'DELETE' ? 'critical' : 'warning';
