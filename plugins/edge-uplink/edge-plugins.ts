import { Ajv, type ValidateFunction } from 'ajv';
import type { EdgePluginFile } from 'svc/edge-protocol';
import { type Clock, type Logger, messageOf, type PluginDirectory } from 'svc/sdk';

import { errors } from './errors.ts';

/** A plugin of this edge that the manager knows by name. */
export interface EdgePlugin extends EdgePluginFile {
  readonly id: string;
  /** The spec with its defaults; throws invalid_argument when it does not fit. */
  filled(spec: unknown): unknown;
}

const nameForm = /^[a-z][a-z0-9_-]{0,62}$/;

/** The supervisor asks each second, and must not read all folders each second. */
const freshMs = 10_000;

/** Plugins here that have an `edge.json`, which is read again every few seconds. */
export class EdgePlugins {
  readonly #plugins: PluginDirectory;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Logger;
  readonly #read = new Map<
    string,
    { readonly text: string; readonly plugin: EdgePlugin | undefined }
  >();
  #found = new Map<string, EdgePlugin>();
  #readAt = -Infinity;

  constructor(plugins: PluginDirectory, clock: Pick<Clock, 'monotonic'>, log: Logger) {
    this.#plugins = plugins;
    this.#clock = clock;
    this.#log = log;
  }

  /** Returns the plugins by name. */
  all(): ReadonlyMap<string, EdgePlugin> {
    if (this.#clock.monotonic() - this.#readAt < freshMs) {
      return this.#found;
    }
    this.#readAt = this.#clock.monotonic();
    this.#found = new Map();
    for (const { id } of this.#plugins.list()) {
      const plugin = this.#pluginOf(id);
      if (plugin) {
        this.#found.set(plugin.name, plugin);
      }
    }
    return this.#found;
  }

  #pluginOf(id: string): EdgePlugin | undefined {
    const bytes = this.#plugins.read(id, 'edge.json');
    if (!bytes) {
      this.#read.delete(id);
      return undefined;
    }
    const text = Buffer.from(bytes).toString('utf8');
    let entry = this.#read.get(id);
    if (entry?.text !== text) {
      entry = { text, plugin: readPlugin(id, text, this.#log) };
      this.#read.set(id, entry);
    }
    return entry.plugin;
  }
}

function readPlugin(id: string, text: string, log: Logger): EdgePlugin | undefined {
  try {
    const file = JSON.parse(text) as EdgePluginFile;
    if (
      !nameForm.test(file.name) ||
      typeof file.spec !== 'object' ||
      typeof file.default_enabled !== 'boolean'
    ) {
      throw new Error('name, kind, default_enabled and spec are needed');
    }
    let check: ValidateFunction | undefined;
    return {
      ...file,
      id,
      filled(spec) {
        check ??= new Ajv({ useDefaults: true, strict: false, logger: false }).compile(file.spec);
        const copy = structuredClone(spec ?? {});
        if (!check(copy)) {
          const [first] = check.errors ?? [];
          throw errors.spec({
            name: file.name,
            instancePath: first?.instancePath || 'it',
            cause: first?.message ?? 'is not right',
          });
        }
        return copy;
      },
    };
  } catch (error) {
    log.error(
      { event: 'uplink.plugin_file_invalid', plugin: id, cause: messageOf(error) },
      "a plugin's edge.json is invalid; the manager cannot configure this plugin",
    );
    return undefined;
  }
}
