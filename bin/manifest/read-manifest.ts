import { ajvSchemas } from '../../core/boot/settings/schemas.ts';
import { manifestReader, type ReadManifest } from '../../core/host/index.ts';

let reader: ReadManifest | undefined;

/**
 * Reads manifests for commands that examine plugins without a host; the schema is compiled when the
 * first one is read.
 */
export const readManifest: ReadManifest = (folder) =>
  (reader ??= manifestReader(ajvSchemas))(folder);
