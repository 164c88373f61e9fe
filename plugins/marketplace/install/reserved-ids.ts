import type { DeclaredCatalogue, PluginDirectory, SettingsBoard } from 'svc/sdk';

export interface Declared {
  readonly plugins: Pick<PluginDirectory, 'list'>;
  readonly catalogue: Pick<DeclaredCatalogue, 'actions' | 'routes'>;
  readonly board: Pick<SettingsBoard, 'list'>;
}

/**
 * Returns ids that no pack may have: those of plugins, and the prefixes of svc's actions, settings
 * and paths, because a pack's names, and what is deleted with it, are recognized by its id.
 * `isPack`: it came from the marketplace, so its declarations are its own.
 */
export function reservedIds(
  { plugins, catalogue, board }: Declared,
  isPack: (pluginId: string) => boolean,
): readonly string[] {
  // Core is no plugin of the list; what neither declares is left over from a pack that may come
  // back.
  const ours = new Set(['core', ...plugins.list().flatMap(({ id }) => (isPack(id) ? [] : [id]))]);
  const actions = catalogue
    .actions()
    .flatMap(({ action, pluginId }) => (ours.has(pluginId) ? [action.split(':', 1)[0]!] : []));
  const paths = catalogue
    .routes()
    .flatMap(({ path, pluginId }) =>
      ours.has(pluginId) ? (/^\/api\/v1\/([^/{]+)/.exec(path)?.[1] ?? []) : [],
    );
  const settings = board
    .list()
    .flatMap(({ key, owner }) => (ours.has(owner) ? [key.split('.', 1)[0]!] : []));
  return [...new Set([...ours, ...actions, ...paths, ...settings])];
}
