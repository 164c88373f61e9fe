import type { PluginManifest } from '../../../core/sdk/index.ts';

/** Where a plugin may be installed: code that came from elsewhere gets a process of its own, so only packs have two homes. */
export const placementOf = ({
  kind,
  entry,
}: Partial<Pick<PluginManifest, 'kind' | 'entry'>>): string =>
  kind !== 'pack' && entry !== undefined
    ? 'an area: it serves from plugins/ of an installation'
    : 'it serves from packs/ of a data folder';
