import { join } from 'node:path';

import { type Logger, messageOf, SvcError } from 'svc/sdk';

import { keepText, readText } from './keep.ts';

export interface Wish {
  readonly enabled: boolean;
  readonly spec: unknown;
}

/** What the manager wants of the plugins here, kept over restarts. */
export interface Desired {
  /** The name of this state; undefined before the manager has said anything. */
  readonly hash: string | undefined;
  of(name: string): Wish | undefined;
  /** Keeps it, and tells who listens; the names whose wish has changed. */
  apply(params: unknown): readonly string[];
}

const mostPlugins = 64;
const nameForm = /^[a-z][a-z0-9_-]{0,62}$/;

export function openDesired(folder: string, log: Logger): Desired {
  const file = join(folder, 'desired.json');
  let { hash, plugins } = recall(file, log);
  return {
    get hash() {
      return hash;
    },
    of: (name) => plugins.get(name),
    apply(params) {
      const next = readDesired(params);
      const names = new Set([...plugins.keys(), ...next.plugins.keys()]);
      const changed = [...names].filter((name) => JSON.stringify(plugins.get(name)) !== JSON.stringify(next.plugins.get(name)));
      keepText(file, JSON.stringify({ hash: next.hash, plugins: Object.fromEntries(next.plugins) }, undefined, 2));
      ({ hash, plugins } = next);
      return changed;
    },
  };
}

function readDesired(params: unknown): { hash: string; plugins: ReadonlyMap<string, Wish> } {
  const { hash, plugins } = (params ?? {}) as { hash?: unknown; plugins?: unknown };
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash) || typeof plugins !== 'object' || plugins === null) {
    throw new SvcError('invalid_argument', 'config_apply needs a hash and plugins');
  }
  const entries = Object.entries(plugins as Record<string, { enabled?: unknown; spec?: unknown } | null>);
  if (entries.length > mostPlugins || entries.some(([name, wish]) => !nameForm.test(name) || typeof wish?.enabled !== 'boolean')) {
    throw new SvcError('invalid_argument', `config_apply names at most ${mostPlugins} plugins, each with "enabled" and "spec"`);
  }
  return { hash, plugins: new Map(entries.map(([name, wish]) => [name, { enabled: wish!.enabled as boolean, spec: wish!.spec ?? {} }])) };
}

function recall(file: string, log: Logger): { hash: string | undefined; plugins: ReadonlyMap<string, Wish> } {
  const text = readText(file);
  try {
    if (text !== undefined) {
      return readDesired(JSON.parse(text));
    }
  } catch (error) {
    log.warn({ cause: messageOf(error) }, `${file} is damaged; the manager sends it again`);
  }
  return { hash: undefined, plugins: new Map() };
}
