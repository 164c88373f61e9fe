import type { Script } from 'node:vm';

/** Gets exports, require, module, name and folder, as every CommonJS text does, and the cache for what it loads. */
export type CommonJs = (this: unknown, ...given: unknown[]) => void;

export function scriptOf(text: string, filename: string, cachedData?: Buffer): Script;

export class CodeCache {
  constructor(folder: string | undefined);
  functionOf(text: string, filename: string, brought?: () => Buffer): CommonJs | undefined;
  keep(): Promise<number>;
}
