import { Ajv, type ValidateFunction } from 'ajv';
import type { EdgePluginFile } from 'svc/edge-protocol';
import { type Clock, type Logger, messageOf, type PluginDirectory, SvcError } from 'svc/sdk';

/** A plugin of this edge that the manager knows by name. */
export interface EdgePlugin extends EdgePluginFile {
  readonly id: string;
  /** The spec with its defaults; throws invalid_argument when it does not fit. */
  filled(spec: unknown): unknown;
}

const nameForm = /^[a-z][a-z0-9_-]{0,62}$/;

/** Whoever asks each second must not read all folders each second. */
const freshMs = 10_000;

/** Those of the house that have an `edge.json`, which is looked at anew every few seconds. */
export function edgePlugins(plugins: PluginDirectory, clock: Pick<Clock, 'monotonic'>, log: Logger): () => ReadonlyMap<string, EdgePlugin> {
  const known = new Map<string, { text: string; plugin: EdgePlugin | undefined }>();
  let found = new Map<string, EdgePlugin>();
  let readAt = -Infinity;
  return () => {
    if (clock.monotonic() - readAt < freshMs) {
      return found;
    }
    readAt = clock.monotonic();
    found = new Map();
    for (const { id } of plugins.list()) {
      const bytes = plugins.read(id, 'edge.json');
      if (!bytes) {
        known.delete(id);
        continue;
      }
      const text = Buffer.from(bytes).toString('utf8');
      let entry = known.get(id);
      if (entry?.text !== text) {
        entry = { text, plugin: readPlugin(id, text, log) };
        known.set(id, entry);
      }
      if (entry.plugin) {
        found.set(entry.plugin.name, entry.plugin);
      }
    }
    return found;
  };
}

function readPlugin(id: string, text: string, log: Logger): EdgePlugin | undefined {
  try {
    const file = JSON.parse(text) as EdgePluginFile;
    if (!nameForm.test(file.name) || typeof file.spec !== 'object' || typeof file.default_enabled !== 'boolean') {
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
          throw new SvcError('invalid_argument', `the spec of ${file.name} does not fit: ${first?.instancePath || 'it'} ${first?.message ?? 'is not right'}`);
        }
        return copy;
      },
    };
  } catch (error) {
    log.error({ plugin: id, cause: messageOf(error) }, 'its edge.json cannot be read, so the manager cannot steer it');
    return undefined;
  }
}
