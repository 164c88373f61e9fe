import { isIP, isIPv4, isIPv6 } from 'node:net';

import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';

import type { Generation } from '../../registry/index.ts';
import type { FieldProblem, RouteDeclaration, SvcError } from '../../sdk/index.ts';
import { errors } from './errors.ts';
import { problemsOf } from './problems.ts';
import { closed, type Schema } from './schema.ts';

/**
 * Max size of bodies whose problems are all reported; of larger ones only the first: collecting all
 * would cost more than reading them.
 */
const thoroughBytes = 64 * 1024;
const maxProblems = 20;

type Dialect = 'text' | 'json' | 'thorough';

const dialects: Readonly<Record<Dialect, Options>> = {
  // Paths and queries are text: `7` becomes a number where a number is asked for, `a` a list where a list is.
  text: { coerceTypes: 'array', allErrors: true },
  json: {},
  thorough: { allErrors: true },
};

/** The shapes one route accepts and answers with; each compiles when it is first needed. */
export class RouteShapes {
  readonly #declaration: RouteDeclaration;
  readonly #owner: Generation;
  #params: ValidateFunction | undefined;
  #query: ValidateFunction | undefined;
  #body: ValidateFunction | undefined;
  #reply: ValidateFunction | undefined;

  constructor(declaration: RouteDeclaration, owner: Generation) {
    this.#declaration = declaration;
    this.#owner = owner;
  }

  checkParams(params: Record<string, unknown>): void {
    if (this.#declaration.params !== undefined) {
      this.#params ??= this.#compile('text', this.#declaration.params);
      demand(this.#params, params, 'path');
    }
  }

  /** A route without a query schema takes no query. */
  checkQuery(query: Record<string, unknown>): void {
    this.#query ??= this.#compile(
      'text',
      this.#declaration.query ?? { type: 'object', properties: {} },
    );
    demand(this.#query, query, 'query');
  }

  checkBody(body: unknown, bytes: number): void {
    this.#body ??= this.#compile('json', this.#declaration.body!);
    if (!this.#body(body)) {
      const found = this.#body.errors;
      // The quick check may have filled in defaults, which is harmless to look at a second time.
      const every =
        bytes <= thoroughBytes ? this.#compile('thorough', this.#declaration.body!) : this.#body;
      throw refusal(every(body) ? problemsOf(found) : problemsOf(every.errors), 'body');
    }
  }

  /** Returns what is wrong with a reply of this route, as `[path] sentence`. */
  replyProblem(reply: unknown): string | undefined {
    const schema =
      this.#declaration.kind === 'list' ? this.#declaration.items : this.#declaration.response;
    if (schema === undefined) {
      return undefined;
    }
    this.#reply ??= this.#compile('json', schema);
    const [problem] = this.#reply(reply) ? [] : problemsOf(this.#reply.errors);
    return problem && `${problem.path || '/'} ${problem.message}`;
  }

  #compile(dialect: Dialect, schema: object): ValidateFunction {
    return compiled(schema as Schema, dialect, this.#owner.manifest.kind === 'pack');
  }
}

/**
 * Checks by schema text: a reload brings most shapes again unchanged, and compiling one takes
 * longer than all its checks.
 */
const known = new Map<string, ValidateFunction>();
const maxKnown = 4_000;
const compilers: Record<string, Ajv2020> = {};

function compiled(schema: Schema, dialect: Dialect, isOfPack: boolean): ValidateFunction {
  const kind = `${dialect} ${isOfPack}`;
  const key = kind + JSON.stringify(schema);
  let check = known.get(key);
  if (check === undefined) {
    const compiler = (compilers[kind] ??= new Ajv2020({
      ...common,
      ...dialects[dialect],
      ...(isOfPack && linearPatterns),
    }));
    const whole = closed(schema);
    check = compiler.compile(whole);
    // Else the compiler would keep it, beyond its place here.
    compiler.removeSchema(whole);
    if (known.size >= maxKnown) {
      known.delete(known.keys().next().value!);
    }
    known.set(key, check);
  }
  return check;
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** The string formats that a route's schema may name. */
const formats: Readonly<Record<string, true | RegExp | ((text: string) => boolean)>> = {
  'date-time': (text) => instant.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  email: /^[^\s@]{1,64}@[^\s@.]{1,63}(\.[^\s@.]{1,63})+$/,
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text),
  ip: (text) => isIP(text) !== 0,
  ipv4: isIPv4,
  ipv6: isIPv6,
  /** `30s`, `5m`, `1h30m`, `7d`. */
  duration: /^(?=\d)(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$/,
  /** Format that is only a hint for forms, and always valid. */
  password: true,
  binary: true,
};

const common: Options = {
  strict: false,
  meta: false,
  validateSchema: false,
  useDefaults: true,
  ownProperties: true,
  verbose: true,
  logger: false,
  formats,
};

/** A pack's patterns are not ours: they run on an engine that no pattern can stall. */
const linearPatterns: Options = {
  code: {
    regExp: Object.assign((pattern: string) => RE2JS.compile(RE2JS.translateRegExp(pattern)), {
      code: 'RE2JS',
    }),
  },
};

function demand(validate: ValidateFunction, value: unknown, part: string): void {
  if (!validate(value)) {
    throw refusal(problemsOf(validate.errors), part);
  }
}

function refusal(problems: readonly FieldProblem[], part: string): SvcError {
  const details = problems.slice(0, maxProblems);
  const sentences = details.map(({ path, message }) =>
    path === '' ? `it ${message}` : `${path.slice(1).replaceAll('/', '.')} ${message}`,
  );
  return errors.shape(
    { part, problems: sentences.join('; ') },
    {
      details,
    },
  );
}
