import { createHash } from 'node:crypto';

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type FieldProblem, type Logger, messageOf, type PluginDirectory, SvcError } from 'svc/sdk';

import type { EdgePluginFile } from '../contract.ts';

/** A plugin that edges run. */
export interface EdgePlugin extends EdgePluginFile {
  /** Throws invalid_argument unless the spec fits. */
  assertFits(spec: object): void;
  /** A copy of the spec with the defaults that the plugin itself would take. */
  filled(spec: object): Record<string, unknown>;
}

/** Which plugins edges run: told by an `edge.json` beside the manifest, in the single binary as on disk. */
export interface Catalogue {
  all(): readonly EdgePlugin[];
  find(name: string): EdgePlugin | undefined;
  /** Changes with the set of plugins and their defaults. */
  readonly mark: string;
  /** Looks again; true when something changed. */
  refresh(): boolean;
}

const mostProblems = 20;

export function createCatalogue(plugins: Pick<PluginDirectory, 'list' | 'read'>, log: Logger): Catalogue {
  let known: ReadonlyMap<string, EdgePlugin> = new Map();
  let mark = '';
  let text = '';

  function read(id: string): string | undefined {
    try {
      const bytes = plugins.read(id, 'edge.json');
      return bytes && Buffer.from(bytes).toString('utf8');
    } catch (error) {
      log.warn({ plugin: id, cause: messageOf(error) }, 'the edge.json of a plugin cannot be read');
      return undefined;
    }
  }

  return {
    all: () => [...known.values()],
    find: (name) => known.get(name),
    get mark() {
      return mark;
    },
    refresh() {
      const files = plugins.list().flatMap(({ id }) => {
        const file = read(id);
        return file === undefined ? [] : [[id, file] as const];
      });
      const now = JSON.stringify(files);
      if (now === text) {
        return false;
      }
      text = now;
      known = new Map(files.flatMap(([id, file]) => understood(id, file, log)).map((plugin) => [plugin.name, plugin]));
      mark = createHash('sha256').update(now).digest('hex').slice(0, 16);
      return true;
    },
  };
}

/** A file that is not right costs its own plugin alone. */
function understood(id: string, file: string, log: Logger): EdgePlugin[] {
  try {
    return [edgePlugin(JSON.parse(file) as EdgePluginFile)];
  } catch (error) {
    log.warn({ plugin: id, cause: messageOf(error) }, 'the edge.json of a plugin is not right; edges cannot be told to run it');
    return [];
  }
}

function edgePlugin({ name, kind, default_enabled: enabled, spec }: EdgePluginFile): EdgePlugin {
  if (typeof name !== 'string' || !/^[a-z][a-z0-9_-]{0,62}$/.test(name) || !['metrics', 'logs', 'traces'].includes(kind) || typeof enabled !== 'boolean') {
    throw new SvcError('invalid_argument', 'it needs a name, a kind (metrics, logs, traces) and default_enabled');
  }
  const usual = { allErrors: true, ownProperties: true, strict: false, meta: false, validateSchema: false, logger: false } as const;
  const fits = new Ajv(usual).compile(spec);
  let fill: ValidateFunction | undefined;
  return {
    name,
    kind,
    default_enabled: enabled,
    spec,
    assertFits: (value) => assertFits(name, fits, value),
    filled: (value) => filled((fill ??= new Ajv({ ...usual, useDefaults: true }).compile(spec)), value),
  };
}

function assertFits(name: string, fits: ValidateFunction, spec: object): void {
  if (!fits(spec)) {
    const details = (fits.errors ?? []).slice(0, mostProblems).map(problemOf);
    throw new SvcError('invalid_argument', `the spec does not fit the plugin ${name}: ${details[0]?.path} ${details[0]?.message}`, { details });
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
