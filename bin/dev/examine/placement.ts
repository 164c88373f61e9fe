import type { PluginManifest } from '../../../core/sdk/index.ts';

/**
 * Returns where a plugin may be installed: code from elsewhere gets a separate process, so only
 * packs have two options.
 */
export const placementOf = ({
  kind,
  entry,
}: Partial<Pick<PluginManifest, 'kind' | 'entry'>>): string =>
  kind !== 'pack' && entry !== undefined
    ? 'an area: it serves from plugins/ of an installation'
    : 'it serves from packs/ of a data folder';
