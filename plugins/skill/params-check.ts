import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { RE2JS } from 're2js';
import type { Tool } from 'svc/contracts/skill';
import type { SvcError } from 'svc/sdk';
import { type FieldProblem, messageOf } from 'svc/sdk';

import { errors } from './errors.ts';

const usual: Options = {
  strict: false,
  meta: false,
  validateSchema: false,
  useDefaults: true,
  ownProperties: true,
  allErrors: true,
  logger: false,
};
/** Options for foreign patterns, which run on an engine that no pattern can stall. */
const linear: Options = {
  code: {
    regExp: Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), {
      code: 'RE2JS',
    }),
  },
};
const maxProblems = 10;
const longestSchema = 64 * 1_024;

/** Params of calls against the schemas of their tools, with defaults filled in. Each compiles when it is first needed. */
export class ParamsCheck {
  readonly #own = new Ajv({
    ...usual,
    formats: { 'date-time': (text: string) => !Number.isNaN(Date.parse(text)) },
  });
  readonly #foreign = new Ajv({ ...usual, ...linear, allErrors: false, validateFormats: false });
  readonly #checks = new WeakMap<object, ValidateFunction>();

  fit(tool: Tool, params: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const check = this.#checks.get(tool.schema) ?? this.#compile(tool);
    this.#checks.set(tool.schema, check);
    const filled = structuredClone(params);
    if (!check(filled)) {
      throw refusal(tool.key, (check.errors ?? []).slice(0, maxProblems).map(problemOf));
    }
    return filled;
  }

  #compile(tool: Tool): ValidateFunction {
    const isForeign = /^(?:edge$|pack:|mcp:)/.test(tool.source);
    try {
      if (isForeign && JSON.stringify(tool.schema).length > longestSchema) {
        throw new Error(`it is longer than ${longestSchema / 1_024} KiB`);
      }
      return (isForeign ? this.#foreign : this.#own).compile(closed(tool));
    } catch (error) {
      throw errors.schema_broken(
        { key: tool.key, cause: messageOf(error).slice(0, 200) },
        { cause: error },
      );
    }
  }
}

/**
 * Returns the schema without unknown params, since a model invents some: a tool that lists its own
 * accepts no others, unless it says so. MCP servers may mean otherwise.
 */
function closed({ schema, source }: Tool): object {
  const isOpen =
    source.startsWith('mcp:') ||
    ['additionalProperties', 'patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref'].some(
      (word) => word in schema,
    );
  return isOpen ? schema : { ...schema, additionalProperties: false };
}

/** A value is never repeated: it may be a secret. */
function problemOf({ keyword, instancePath, params, message }: ErrorObject): FieldProblem {
  const names = params as Readonly<Record<string, unknown>>;
  switch (keyword) {
    case 'required':
      return { path: `${instancePath}/${String(names.missingProperty)}`, message: 'is required' };
    case 'additionalProperties':
      return {
        path: `${instancePath}/${String(names.additionalProperty).slice(0, 100)}`,
        message: 'is not a known field',
      };
    case 'enum':
      return {
        path: instancePath,
        message: `must be one of ${(names.allowedValues as unknown[]).join(', ').slice(0, 300)}`,
      };
    default:
      return { path: instancePath, message: message ?? 'is not valid' };
  }
}

function refusal(key: string, details: readonly FieldProblem[]): SvcError {
  const sentences = details.map(({ path, message }) =>
    path === '' ? `they ${message}` : `${path.slice(1).replaceAll('/', '.')} ${message}`,
  );
  return errors.params_invalid(
    { key, sentences: sentences.join('; ') },
    { details: details.map(({ path, message }) => ({ path: `/params${path}`, message })) },
  );
}
