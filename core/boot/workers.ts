import { fileURLToPath } from 'node:url';

import { startWorker } from '../isolate/index.ts';
import type { StorageOptions } from '../storage/index.ts';
import type { Product } from './product.ts';

/** Starts storage's threads, from source or from the text that the single binary carries. */
export function storageWorkers({ thread }: Product): StorageOptions['startWorker'] {
  return (entry, workerData) => {
    const text = thread?.(entry);
    return startWorker({ entry: fileURLToPath(new URL(`../storage/${entry}.ts`, import.meta.url)), workerData, ...(text !== undefined && { text }) });
  };
}
