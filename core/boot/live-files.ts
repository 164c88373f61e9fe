import { join } from 'node:path';

import { createDropIns, type DropIns, type PluginHost, watchFolders } from '../host/index.ts';
import type { Registry, TableName } from '../registry/index.ts';
import { type Clock, type FieldProblem, type Logger, SvcError } from '../sdk/index.ts';
import type { Product } from './product.ts';
import type { Settings } from './settings/settings.ts';
import { syntheticDraft } from './synthetic.ts';

const liveFilesId = 'live-files';

export interface LiveFiles {
  readonly dropIns: DropIns;
  /** Begins to notice changes by itself; a reload by hand works without it. */
  watch(host: PluginHost): Promise<void>;
  close(): Promise<void>;
}

/** The folders that are looked at while the house serves: plugins, packs, personas and skills. */
export function liveFiles(product: Product, dataDir: string, settings: Settings, registry: Registry, clock: Clock, log: Logger): LiveFiles {
  const agents = [join(product.root, 'agents'), ...settings.get<string[]>('agents.external_dirs')];
  const skills = [join(product.root, 'skills'), ...settings.get<string[]>('skills.external_dirs')];
  const pluginFolders = [join(product.root, 'plugins'), join(dataDir, 'packs')];
  let generation = 0;
  const dropIns = createDropIns({
    roots: { agents, skills },
    clock,
    log,
    publish({ personas, skills: prompts }) {
      assertFree(
        registry,
        'personas',
        personas.map(({ name }) => name),
      );
      assertFree(
        registry,
        'skills',
        prompts.map(({ key }) => key),
      );
      const draft = syntheticDraft(liveFilesId, 'Live files', (generation += 1));
      personas.forEach((persona) => draft.add('personas', persona.name, persona));
      prompts.forEach((skill) => draft.add('skills', skill.key, skill));
      registry.publish({ add: [draft.seal()] });
    },
  });
  const undo: (() => unknown)[] = [() => dropIns.close()];
  return {
    dropIns,
    async watch(host) {
      const live = watchFolders({ roots: [...agents, ...skills], log, onChange: (paths) => dropIns.refresh(paths) });
      const plugins = watchFolders({ roots: pluginFolders, log, onChange: (paths) => host.refresh(paths) });
      undo.push(
        () => live.close(),
        () => plugins.close(),
        // A name that a plugin held may be free now, or the other way round.
        registry.onPublish((next, previous) => {
          if ([...previous.generations.keys()].some((id) => !next.generations.has(id))) {
            dropIns.refresh(new Set()).catch((error: unknown) => log.error({ error }, 'live files could not be settled after a plugin left'));
          }
        }),
      );
      await Promise.all([live.ready, plugins.ready]);
    },
    async close() {
      for (const step of undo.toReversed()) {
        await step();
      }
    },
  };
}

/** Plugins own their names: a live file that wants one of them is told, and only that file is left out. */
function assertFree(registry: Registry, table: Extract<TableName, 'personas' | 'skills'>, names: readonly string[]): void {
  const taken = names.flatMap((name): FieldProblem[] => {
    const owner = registry.current[table].get(name)?.owner.pluginId;
    return owner === undefined || owner === liveFilesId ? [] : [{ path: `/${table}/${name}`, message: `plugin "${owner}" brings one of this name` }];
  });
  if (taken.length > 0) {
    throw new SvcError('conflict', 'names of live files are taken by plugins', { details: taken });
  }
}
