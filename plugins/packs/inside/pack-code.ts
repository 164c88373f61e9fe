import { createRequire, isBuiltin, Module } from 'node:module';

import * as sdk from 'svc/sdk';

/** The functions of a pack by the name they are called under. */
export interface PackCode {
  start(): unknown;
  /** Calls a described route (`route`, with `{ key, call }`) or a function that the module exports. */
  invoke(method: string, input: unknown, signal: AbortSignal): unknown;
}

type Callable = (...input: unknown[]) => unknown;

/** Evaluates CommonJS text as a module of its own, with nothing to require but Node and the contract. */
export function evaluatePack(code: string, filename: string): PackCode {
  const module = new Module(filename) as Module & { _compile(code: string, filename: string): unknown };
  module.filename = filename;
  module.paths = [];
  module.require = linker(filename);
  module._compile(code, filename);
  const exported = objectOf(module.exports);
  const definition = objectOf(exported['default'] ?? exported);
  const routes = objectOf(definition['routes'] ?? {});
  return {
    start: () => (typeof definition['start'] === 'function' ? (definition['start'] as Callable)() : undefined),
    invoke(method, input, signal) {
      if (method !== 'route') {
        return own(exported, method, `the module exports no function ${method}`)(input, signal);
      }
      const { key, call } = input as { key: string; call: unknown };
      return own(routes, key, `the pack has no handler for ${key}; its manifest describes that route, so its code must answer it`)(call, signal);
    },
  };
}

function linker(filename: string): NodeJS.Require {
  const native = createRequire(filename);
  return ((id: string): unknown => {
    if (id === 'svc/sdk') {
      return sdk;
    }
    if (isBuiltin(id)) {
      return native(id);
    }
    throw new Error(`cannot find module "${id}": the code of a pack is one bundle, beside it there are only node modules and svc/sdk`);
  }) as NodeJS.Require;
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
