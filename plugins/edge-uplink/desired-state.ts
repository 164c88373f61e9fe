import { join } from 'node:path';

import { type Logger, messageOf } from 'svc/sdk';
import { isAddress, type ManagerAddress, mostAddresses, readText, writeText } from 'svc/tunnel';

import { errors } from './errors.ts';

export interface Wish {
  readonly enabled: boolean;
  readonly spec: unknown;
}

interface State {
  readonly hash: string | undefined;
  readonly plugins: ReadonlyMap<string, Wish>;
  readonly managers: readonly ManagerAddress[];
}

const maxPlugins = 64;
const nameForm = /^[a-z][a-z0-9_-]{0,62}$/;

/** Desired state of the plugins here, as the manager assigns it; kept across restarts. */
export class DesiredState {
  readonly #file: string;
  #state: State;

  constructor(folder: string, log: Logger) {
    this.#file = join(folder, 'desired.json');
    this.#state = recall(this.#file, log);
  }

  /** The name of this state; undefined before the manager has sent one. */
  get hash(): string | undefined {
    return this.#state.hash;
  }

  /** Addresses of the manager as it has told them. */
  get managers(): readonly ManagerAddress[] {
    return this.#state.managers;
  }

  of(name: string): Wish | undefined {
    return this.#state.plugins.get(name);
  }

  /** Keeps it; the names whose wish has changed. */
  apply(params: unknown): readonly string[] {
    const { plugins } = this.#state;
    const next = readState(params);
    const names = new Set([...plugins.keys(), ...next.plugins.keys()]);
    const changed = [...names].filter(
      (name) => JSON.stringify(plugins.get(name)) !== JSON.stringify(next.plugins.get(name)),
    );
    writeText(
      this.#file,
      JSON.stringify({ ...next, plugins: Object.fromEntries(next.plugins) }, undefined, 2),
    );
    this.#state = next;
    return changed;
  }
}

function readState(params: unknown): State {
  const {
    hash,
    plugins,
    managers = [],
  } = (params ?? {}) as { hash?: unknown; plugins?: unknown; managers?: unknown };
  if (
    typeof hash !== 'string' ||
    !/^[0-9a-f]{64}$/.test(hash) ||
    typeof plugins !== 'object' ||
    plugins === null
  ) {
    throw errors.config_form();
  }
  const entries = Object.entries(
    plugins as Record<string, { enabled?: unknown; spec?: unknown } | null>,
  );
  if (
    entries.length > maxPlugins ||
    entries.some(([name, wish]) => !nameForm.test(name) || typeof wish?.enabled !== 'boolean')
  ) {
    throw errors.config_plugins({ maxPlugins });
  }
  if (!Array.isArray(managers) || managers.length > mostAddresses || !managers.every(isAddress)) {
    throw errors.config_managers({ most: mostAddresses });
  }
  return {
    hash,
    managers: managers.map(({ url, pin }) => ({ url, ...(pin !== undefined && { pin }) })),
    plugins: new Map(
      entries.map(([name, wish]) => [
        name,
        { enabled: wish!.enabled as boolean, spec: wish!.spec ?? {} },
      ]),
    ),
  };
}

function recall(file: string, log: Logger): State {
  const text = readText(file);
  try {
    if (text !== undefined) {
      const kept = JSON.parse(text) as { managers?: unknown };
      const state = readState(kept);
      // An earlier version kept no addresses, so the manager is to send all of it again.
      return kept.managers === undefined ? { ...state, hash: undefined } : state;
    }
  } catch (error) {
    log.warn(
      { event: 'uplink.desired_damaged', file, cause: messageOf(error) },
      'desired plugin state on disk is damaged; the manager will resend it',
    );
  }
  return { hash: undefined, plugins: new Map(), managers: [] };
}
