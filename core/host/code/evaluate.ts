import { isBuiltin, Module } from 'node:module';
import { dirname } from 'node:path';

import {
  messageOf,
  type PluginDefinition,
  type PluginManifest,
  type Scope,
} from '../../sdk/index.ts';
import type { RunnableText } from './compile.ts';
import { errors } from './errors.ts';
import type { SharedModules } from './shared.ts';
import { shadowing, Strays } from './leak-detector.ts';

/** Half-public, there since the first Node: the one spot where svc leans on it. */
interface CompilingModule {
  filename: string;
  paths: string[];
  exports: Record<string, unknown>;
  require(specifier: string): unknown;
  _compile(code: string, filename: string): void;
}

const closed: readonly string[] = [
  'child_process',
  'cluster',
  'worker_threads',
  'vm',
  'module',
  'repl',
  'inspector',
];

/** Runs a compiled plugin once, in a fresh module that nothing else refers to, and returns its definition. */
export function evaluate(
  { id, trusted }: Pick<PluginManifest, 'id' | 'trusted'>,
  compiled: RunnableText,
  shared: SharedModules,
  scope: Scope,
): PluginDefinition<unknown> {
  const strays = new Strays(trusted);
  // Bound: a closure would keep the text for as long as the plugin serves.
  scope.defer('what was set past ctx', endStrays.bind(undefined, strays));
  const require = linkerOf(id, shared, trusted, strays);
  const run = (): Record<string, unknown> =>
    evaluateText({ ...compiled, code: shadowing + compiled.code }, require);
  let [before, exports] = [footprint(), run()];
  if (before.grownSince() === 'handles') {
    // Node may open one itself in that turn, for work that has just ended; what the modules open they open again.
    [before, exports] = [footprint(), run()];
  }
  const grown = before.grownSince();
  if (grown) {
    throw errors.side_effects({ plugin: id, grown });
  }
  const definition = exports['default'] as Partial<PluginDefinition<unknown>> | undefined;
  if (typeof definition?.activate !== 'function') {
    throw errors.no_definition({ plugin: id, file: compiled.filename });
  }
  return definition as PluginDefinition<unknown>;
}

/** Registered first, so undone last: whatever the scope did not end by then, nobody would have. */
function endStrays(strays: Strays): void {
  const left = strays.end();
  if (left.length > 0) {
    throw errors.strays_stopped({ what: left.join(', ') });
  }
}

/** CommonJS text to exports. A generation made this way is collected once unused; an ES module never is. */
export function evaluateText(
  { code, filename, functionOf }: RunnableText,
  require: (specifier: string) => unknown,
): Record<string, unknown> {
  const fresh = new Module(filename) as unknown as CompilingModule;
  fresh.filename = filename;
  fresh.paths = [];
  fresh.require = require;
  const known = functionOf?.(code, filename);
  known?.call(fresh.exports, fresh.exports, require, fresh, filename, dirname(filename));
  if (!known) {
    fresh._compile(code, filename);
  }
  return fresh.exports;
}

/** Fails at boot, with a sentence, on a Node whose module loader has changed under us. */
export function checkEvaluator(): void {
  try {
    if (
      evaluateText(
        { code: 'module.exports = { answer: require("x") + 1 }', filename: 'self-check.cjs' },
        () => 41,
      )['answer'] !== 42
    ) {
      throw new Error('wrong answer');
    }
  } catch (error) {
    throw errors.no_evaluator({ node: process.version, cause: messageOf(error) });
  }
}

/** A linker, not a sandbox: areas are trusted, packs with code run elsewhere. Made here, because a plugin keeps it with all that stood around it. */
function linkerOf(
  id: string,
  shared: SharedModules,
  trusted: readonly string[],
  strays: Strays,
): (specifier: string) => unknown {
  return (specifier) => {
    const lent =
      specifier === 'svc:strays'
        ? strays
        : /^(node:)?process$/.test(specifier)
          ? strays.process
          : shared.get(specifier);
    if (lent) {
      return lent;
    }
    const name = specifier.replace(/^node:/, '');
    if (isBuiltin(specifier) && (!closed.includes(name) || trusted.includes(name))) {
      return process.getBuiltinModule(specifier);
    }
    throw errors.module_not_lent({ plugin: id, module: specifier });
  };
}

/**
 * Records what evaluation must not touch: process listeners, globals, live handles. Exact, since
 * evaluation is one synchronous turn.
 */
function footprint(): { grownSince(): string | undefined } {
  const look = () => ({
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    globals: Object.keys(globalThis).length,
    handles: process.getActiveResourcesInfo().length,
  });
  const before = look();
  return {
    grownSince() {
      const after = look();
      return (['listeners', 'globals', 'handles'] as const).find(
        (what) => after[what] > before[what],
      );
    },
  };
}
