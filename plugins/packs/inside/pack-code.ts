import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';

import * as sdk from 'svc/sdk';

import type { Load } from '../wire/wire.ts';

/** The functions of a pack by the name they are called under. */
export interface PackCode {
  /** True if it has a `start`, and so may have work that no call begins. */
  readonly isResident: boolean;
  start(): unknown;
  /** Calls the handler of a described route, event or skill (with `{ key, call }`), or a function that the module exports. */
  invoke(method: string, input: unknown, signal: AbortSignal): unknown;
}

type Callable = (...input: unknown[]) => unknown;

/**
 * Modules of node that a pack may ask for. Others reach past the permission model, as node:sqlite does into any file and node:vm and
 * node:module to all the rest; `import()` finds nothing, because a function that is compiled this way has none.
 */
const openModules: readonly string[] = [
  ...[
    'assert',
    'assert/strict',
    'async_hooks',
    'buffer',
    'constants',
    'crypto',
    'diagnostics_channel',
    'events',
    'fs',
    'fs/promises',
    'os',
  ],
  ...[
    'path',
    'path/posix',
    'path/win32',
    'perf_hooks',
    'process',
    'punycode',
    'querystring',
    'readline',
    'readline/promises',
    'stream',
  ],
  ...[
    'stream/consumers',
    'stream/promises',
    'stream/web',
    'string_decoder',
    'timers',
    'timers/promises',
    'tty',
    'url',
    'util',
    'util/types',
    'zlib',
  ],
];
/** Closed modules that are asked for to do what no right covers, by the permission that it takes. */
const closedBy: Readonly<Record<string, object>> = Object.assign(Object.create(null) as object, {
  child_process: { code: 'ERR_ACCESS_DENIED', permission: 'ChildProcess' },
  cluster: { code: 'ERR_ACCESS_DENIED', permission: 'ChildProcess' },
  worker_threads: { code: 'ERR_ACCESS_DENIED', permission: 'WorkerThreads' },
  sqlite: { code: 'ERR_ACCESS_DENIED', permission: 'FileSystemRead' },
  ...Object.fromEntries(
    ['net', 'dgram', 'tls', 'dns', 'dns/promises', 'http', 'https', 'http2'].map((name) => [
      name,
      { code: 'ERR_ACCESS_DENIED', permission: 'Net' },
    ]),
  ),
});
const networkModules: readonly string[] = [
  'dgram',
  'dns',
  'dns/promises',
  'http',
  'http2',
  'https',
  'net',
  'tls',
];

/** Evaluates CommonJS text as a module of its own, with nothing to require but open modules of Node and the contract. */
export function evaluatePack(
  { code, filename, network, described }: Pick<Load, 'code' | 'filename' | 'network' | 'described'>,
  context: sdk.PackContext,
): PackCode {
  const module: { exports: unknown } = { exports: {} };
  const run = compileFunction(code, ['exports', 'require', 'module', '__filename', '__dirname'], {
    filename,
  });
  run.call(module.exports, module.exports, linker(network), module, filename, dirname(filename));
  const exported = objectOf(module.exports);
  const definition = objectOf(exported['default'] ?? exported);
  requireHandlers(definition, described);
  requireFunctions(definition);
  const start = (): unknown =>
    typeof definition['start'] === 'function'
      ? (definition['start'] as Callable)(context)
      : undefined;
  return {
    isResident: typeof definition['start'] === 'function',
    start,
    invoke(method, input, signal) {
      if (method === 'start') {
        return start();
      }
      const handlers = Object.hasOwn(handlersOf, method) ? handlersOf[method] : undefined;
      if (handlers === undefined) {
        return own(exported, method, `the module exports no function ${method}`)(input, signal);
      }
      const { key, call } = input as { key: string; call: unknown };
      const handler = own(objectOf(definition[handlers] ?? {}), key, missing(handlers, key));
      return handler(call, { ...context, signal });
    },
  };
}

/** Throws if a manifest describes what the code does not answer: its author learns that at the install. */
function requireHandlers(definition: Record<string, unknown>, described: Load['described']): void {
  for (const [field, keys] of Object.entries(described ?? {}) as [string, readonly string[]][]) {
    const functions = keys.length === 0 ? {} : objectOf(definition[field] ?? {});
    keys.forEach((key) => own(functions, key, missing(field, key)));
  }
}

/** Throws if something else stands where a function belongs: it would never run, and its author would not know. */
function requireFunctions(definition: Record<string, unknown>): void {
  const { start } = definition;
  if (start !== undefined && typeof start !== 'function') {
    throw new Error('"start" of definePack is not a function; make it one or remove it');
  }
  for (const field of Object.values(handlersOf)) {
    const functions = definition[field] ?? {};
    if (typeof functions !== 'object') {
      throw new Error(`"${field}" of definePack is not an object of functions; make it one`);
    }
    const wrong = Object.entries(functions).find(([, one]) => typeof one !== 'function');
    if (wrong !== undefined) {
      throw new Error(
        `"${field}" of definePack has no function for ${wrong[0]}; add one or remove the name`,
      );
    }
  }
}

const missing = (field: string, key: string): string =>
  `"${field}" of definePack has no ${key}, which plugin.json describes; add it`;

/** Field with the handlers of each method in a pack's definition. */
const handlersOf: Readonly<Record<string, string>> = {
  route: 'routes',
  event: 'events',
  skill: 'skills',
};

/**
 * Everything is looked up before the pack runs, in a table without a prototype: it can change what any function of the language
 * does, and a check that is made later would ask what the pack has put in its place.
 */
function linker(network: boolean): (id: string) => unknown {
  const native = createRequire('/pack.cjs');
  const table = Object.create(null) as Record<string, unknown>;
  for (const name of network ? [...openModules, ...networkModules] : openModules) {
    table[name] = table[`node:${name}`] = native(`node:${name}`);
  }
  table['svc/sdk'] = sdk;
  return (id) => {
    const found = table[id];
    if (found === undefined) {
      throw Object.assign(
        new Error(
          `cannot find module "${id}", or it is not available to this pack: packs can import their own files, svc/sdk, and modules of Node within their permissions; build it with "svc plugin build" to include packages`,
        ),
        closedBy[id.replace(/^node:/, '')],
      );
    }
    return found;
  };
}

function own(functions: Record<string, unknown>, name: string, otherwise: string): Callable {
  const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (typeof found !== 'function') {
    throw new sdk.SvcError('not_found', otherwise);
  }
  return found as Callable;
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) {
    throw new Error('the module must export definePack({ … }) as its default');
  }
  return value as Record<string, unknown>;
}
