import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { EdgePluginFile } from 'svc/edge-protocol';
import { type FieldProblem, type Logger, messageOf, type PluginDirectory } from 'svc/sdk';

import { errors } from './errors.ts';

/** A plugin that edges run. */
export interface EdgePlugin extends EdgePluginFile {
  /** Throws invalid_argument unless the spec fits. */
  assertFits(spec: object): void;
  /** A copy of the spec with the defaults that the plugin itself would take. */
  filled(spec: object): Record<string, unknown>;
}

const maxProblems = 20;

/**
 * Catalogue of edge plugins: those with an `edge.json` next to the manifest, both in the single
 * binary and on disk.
 */
export class Catalogue {
  readonly #plugins: Pick<PluginDirectory, 'list' | 'read'>;
  readonly #log: Logger;
  #known: ReadonlyMap<string, EdgePlugin> = new Map();
  #text = '';

  constructor(plugins: Pick<PluginDirectory, 'list' | 'read'>, log: Logger) {
    this.#plugins = plugins;
    this.#log = log;
    this.refresh();
  }

  /** Returns the plugins sorted by name. */
  all(): readonly EdgePlugin[] {
    return [...this.#known.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): EdgePlugin | undefined {
    return this.#known.get(name);
  }

  /** Looks again; true when the plugins have changed. */
  refresh(): boolean {
    const files = this.#plugins.list().flatMap(({ id }) => {
      const file = this.#read(id);
      return file === undefined ? [] : [[id, file] as const];
    });
    const text = JSON.stringify(files);
    if (text === this.#text) {
      return false;
    }
    this.#text = text;
    this.#known = new Map(
      files.flatMap(([id, file]) => this.#parse(id, file)).map((plugin) => [plugin.name, plugin]),
    );
    return true;
  }

  #read(id: string): string | undefined {
    try {
      const bytes = this.#plugins.read(id, 'edge.json');
      return bytes && Buffer.from(bytes).toString('utf8');
    } catch (error) {
      this.#log.warn(
        { event: 'edge.plugin_file_unreadable', plugin: id, cause: messageOf(error) },
        "failed to read a plugin's edge.json; the plugin is not offered to edges",
      );
      return undefined;
    }
  }

  /** A file that is not right costs its own plugin alone. */
  #parse(id: string, file: string): EdgePlugin[] {
    try {
      return [edgePlugin(JSON.parse(file) as EdgePluginFile)];
    } catch (error) {
      this.#log.warn(
        { event: 'edge.plugin_file_invalid', plugin: id, cause: messageOf(error) },
        "a plugin's edge.json is invalid; the plugin is not offered to edges until it is corrected",
      );
      return [];
    }
  }
}

function edgePlugin({ name, kind, default_enabled: enabled, spec }: EdgePluginFile): EdgePlugin {
  if (
    typeof name !== 'string' ||
    !/^[a-z][a-z0-9_-]{0,62}$/.test(name) ||
    !['metrics', 'logs', 'traces'].includes(kind) ||
    typeof enabled !== 'boolean'
  ) {
    throw errors.plugin_entry();
  }
  const usual = {
    allErrors: true,
    ownProperties: true,
    strict: false,
    meta: false,
    validateSchema: false,
    logger: false,
    code: { optimize: false },
  } as const;
  // Compiled when a spec is first set: that takes longer than all the rest of this plugin's start.
  let fits: ValidateFunction | undefined;
  let fill: ValidateFunction | undefined;
  return {
    name,
    kind,
    default_enabled: enabled,
    spec,
    assertFits: (value) => assertFits(name, (fits ??= new Ajv(usual).compile(spec)), value),
    filled: (value) =>
      filled((fill ??= new Ajv({ ...usual, useDefaults: true }).compile(spec)), value),
  };
}

function assertFits(name: string, fits: ValidateFunction, spec: object): void {
  if (!fits(spec)) {
    const details = (fits.errors ?? []).slice(0, maxProblems).map(problemOf);
    const [first] = details;
    throw errors.spec({ name, problem: `${first?.path} ${first?.message}` }, { details });
  }
}

const problemOf = ({ instancePath, message, params }: ErrorObject): FieldProblem => ({
  path: `/spec${instancePath}`,
  message: `${message ?? 'is not right'}${'additionalProperty' in params ? ` ("${String(params['additionalProperty'])}")` : ''}`,
});

function filled(fill: ValidateFunction, spec: object): Record<string, unknown> {
  const copy = structuredClone(spec) as Record<string, unknown>;
  fill(copy);
  return copy;
}
