import { discover, migrationsOf, type PluginSources } from '../host/index.ts';
import type { Beginning } from '../storage/index.ts';
import type { Base } from './base.ts';

/** Tables of the plugins that come with the product; one that cannot be read says so when it is brought up. */
export function firstTables(
  { readManifest, logs }: Pick<Base, 'readManifest' | 'logs'>,
  sources: PluginSources,
): readonly Beginning[] {
  return [...discover(sources).values()]
    .filter(({ origin }) => origin === 'shipped')
    .flatMap((folder) => {
      try {
        const { runs_on: runsOn, kind } = readManifest(folder);
        return runsOn.includes('manager') && kind !== 'pack'
          ? [{ owner: folder.id, migrations: migrationsOf(folder) }]
          : [];
      } catch (error) {
        logs
          .logger('storage')
          .debug({ event: 'storage.tables_left', plugin: folder.id, error }, 'left its tables');
        return [];
      }
    });
}
