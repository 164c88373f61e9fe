import type { PluginFolder } from './folder.ts';

/** Migrations that a plugin brings, in the order of its files. */
export const migrationsOf = (folder: PluginFolder): { name: string; sql: string }[] =>
  folder
    .files()
    .filter((name) => /^migrations\/[^/]+\.sql$/.test(name))
    .map((name) => ({
      name: name.slice('migrations/'.length),
      sql: folder.read(name)!.toString('utf8'),
    }));
