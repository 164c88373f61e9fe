import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

import type { Schema } from './api-fuzz-values.ts';

export interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, Documented | { readonly $ref: string }>>;
  readonly security: readonly object[];
}

interface Documented {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Documented>>;
  };
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly bytes: number;
  /** Undefined where the answer is a stream that was left, or no JSON. */
  readonly json: unknown;
}

/** Holds answers against a document: status, media type and shape. */
export class Answers {
  readonly #ajv: Ajv2020;
  readonly #responses: ApiDocument['components']['responses'];
  readonly #compiled = new Map<Schema, ValidateFunction>();

  constructor(document: ApiDocument) {
    this.#ajv = new Ajv2020({
      strict: false,
      validateSchema: false,
      logger: false,
      validateFormats: false,
    });
    this.#responses = document.components.responses;
    this.#ajv.addSchema({ $id: 'svc:/document', components: document.components });
  }

  /** Returns how the answer differs from the document; undefined if it does not. */
  violation(
    operation: DocumentedOperation,
    { status, type, bytes, json }: Answer,
  ): string | undefined {
    const said = operation.responses[status];
    const documented =
      said && '$ref' in said ? this.#responses[said.$ref.split('/').at(-1)!] : said;
    if (documented === undefined) {
      return `${status} is not in the document (${type})`;
    }
    if (documented.content === undefined) {
      return bytes === 0
        ? undefined
        : `${status} has a body of ${type}, which is not in the document`;
    }
    if (bytes === 0 && type === '') {
      return `${status} has no body, the document says ${Object.keys(documented.content).join(', ')}`;
    }
    const content = documented.content[type] ?? documented.content['*/*'];
    if (content === undefined) {
      return `${status} is ${type}, the document says ${Object.keys(documented.content).join(', ')}`;
    }
    if (json === undefined) {
      return undefined;
    }
    const validate = this.#validator(content.schema);
    const [error] = validate(json) ? [] : validate.errors!;
    return (
      error &&
      `${status} ${error.instancePath.replace(/\/\d+/g, '/#') || '/'} ${error.message} ${JSON.stringify(error.params)}`
    );
  }

  #validator(schema: Schema): ValidateFunction {
    const known = this.#compiled.get(schema) ?? this.#ajv.compile(whole(schema) as Schema);
    this.#compiled.set(schema, known);
    return known;
  }
}

/** References point into the document, whose address the validator knows. */
const whole = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? `svc:/document${value}` : value,
  ) as unknown;
