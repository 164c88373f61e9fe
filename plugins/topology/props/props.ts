import { isIPv4, isIPv6 } from 'node:net';

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { RE2JS } from 're2js';
import { messageOf } from 'svc/sdk';

import { errors } from './errors.ts';
import { assertSchema, refuse } from './schema-check.ts';

export type Props = Readonly<Record<string, unknown>>;

const longest = 16_384;
const maxProblems = 20;
const maxCompiled = 200;

const formats = {
  date: (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text: string) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text)),
  email: /^[^\s@]{1,64}@[^\s@.]{1,63}(\.[^\s@.]{1,63})+$/,
  hostname:
    /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/,
  ipv4: isIPv4,
  ipv6: isIPv6,
  uri: (text: string) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text),
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
};

/** Holds props against the schema of their type. */
export class PropsCheck {
  readonly #ajv = new Ajv({
    allErrors: true,
    ownProperties: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    logger: false,
    formats,
    // A user who creates a type may write any pattern: it runs on an engine that none can stall.
    code: {
      regExp: Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), {
        code: 'RE2JS',
      }),
    },
  });
  /** Validators by schema text: two types may share one. */
  readonly #compiled = new Map<string, ValidateFunction>();

  /** Throws unless the schema is one that props can be held against. */
  assertSchema(schema: Props): void {
    assertSchema(schema);
    try {
      this.#compile(schema);
    } catch (error) {
      refuse('', `is no JSON Schema: ${messageOf(error).slice(0, 300)}`);
    }
  }

  assertFit(
    props: Props,
    { name, schema }: { readonly name: string; readonly schema: string },
  ): void {
    assertSize(props);
    const fits = this.#fitsOf(schema);
    if (!fits(props)) {
      const details = (fits.errors ?? [])
        .slice(0, maxProblems)
        .map(({ instancePath, message = 'does not fit', params, keyword }) => ({
          path: `/props${instancePath.slice(0, 200)}`,
          message: message + hint(keyword, params),
        }));
      throw errors.props_misfit(
        {
          name,
          list: details
            .map(({ path, message }) => `${path.slice(1).replaceAll('/', '.')} ${message}`)
            .join('; '),
        },
        { details },
      );
    }
  }

  #fitsOf(text: string): ValidateFunction {
    let fits = this.#compiled.get(text);
    if (fits === undefined) {
      fits = this.#compile(JSON.parse(text) as Props);
      this.#compiled.set(text, fits);
      if (this.#compiled.size > maxCompiled) {
        this.#compiled.delete(this.#compiled.keys().next().value!);
      }
    }
    return fits;
  }

  #compile(schema: Props): ValidateFunction {
    try {
      return this.#ajv.compile(schema);
    } finally {
      this.#ajv.removeSchema(schema);
    }
  }
}

export function assertSize(props: Props): void {
  if (JSON.stringify(props).length > longest) {
    const message = `are longer than ${longest / 1_024} KiB`;
    throw errors.props({ message }, { details: [{ path: '/props', message }] });
  }
}

/** Names of fields and choices come from the schema or are the caller's own; a value is never repeated. */
function hint(keyword: string, params: ErrorObject['params']): string {
  const { additionalProperty, allowedValues } = params as {
    additionalProperty?: string;
    allowedValues?: unknown[];
  };
  return keyword === 'additionalProperties'
    ? `: ${String(additionalProperty).slice(0, 100)}`
    : keyword === 'enum'
      ? `: ${allowedValues!.join(', ').slice(0, 300)}`
      : '';
}
