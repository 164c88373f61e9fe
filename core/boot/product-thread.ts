import { basename } from 'node:path';
import type { Worker } from 'node:worker_threads';

import { startWorker } from '../isolate/index.ts';
import type { Product } from './settings/product.ts';

/** Starts a thread of the product's own code, from its source or from the text that the single binary carries. */
export function startThread({ thread }: Product, entry: string, workerData: unknown): Worker {
  const text = thread?.(basename(entry, '.ts'));
  return startWorker({ entry, workerData, ...(text !== undefined && { text }) });
}
