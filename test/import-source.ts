import { pathToFileURL } from 'node:url';

import { tsImport } from 'tsx/esm/api';

/** Loads a TypeScript file that is known by its path only, and so is no part of the tests as they were built. */
export const importSource = (path: string): Promise<Record<string, unknown>> =>
  tsImport(pathToFileURL(path).href, import.meta.url) as Promise<Record<string, unknown>>;
