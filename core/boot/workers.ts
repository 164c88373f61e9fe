import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { createThreads, startWorker, type Threads } from '../isolate/index.ts';
import { type Clock, SvcError } from '../sdk/index.ts';
import type { StorageOptions } from '../storage/index.ts';
import { installation, type Product } from './product.ts';

/** Starts the thread that writes, from source or from the text that the single binary carries. */
export function storageWriter({ thread }: Product): StorageOptions['startWriter'] {
  const text = thread?.('writer-worker');
  const entry = fileURLToPath(new URL('../storage/writer-worker.ts', import.meta.url));
  return (workerData) => startWorker({ entry, workerData, ...(text !== undefined && { text }) });
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
