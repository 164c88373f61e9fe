import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { createThreads, startWorker, type Threads } from '../isolate/index.ts';
import { type Clock, SvcError } from '../sdk/index.ts';
import type { StorageOptions } from '../storage/index.ts';
import { installation } from './bundles.ts';
import type { Product } from './product.ts';

/** Starts storage's threads, from source or from the text that the single binary carries. */
export function storageWorkers({ thread }: Product): StorageOptions['startWorker'] {
  return (entry, workerData) => {
    const text = thread?.(entry);
    return startWorker({ entry: fileURLToPath(new URL(`../storage/${entry}.ts`, import.meta.url)), workerData, ...(text !== undefined && { text }) });
  };
}

/** The threads of plugins, which find the database's package in this installation or in the single binary. */
export function pluginThreads({ thread, embedded }: Product, clock: Clock): Threads {
  if (!embedded) {
    return createThreads({ clock, packagesFrom: join(installation, 'package.json') });
  }
  const text = thread?.('better-sqlite3');
  if (text === undefined) {
    throw new SvcError('internal', 'this build of svc carries no better-sqlite3 for the threads of plugins');
  }
  return createThreads({ clock, packagesFrom: '', sqlite: { text, nativeBinding: embedded.nativeBinding } });
}
