import { parentPort, workerData } from 'node:worker_threads';

import { connect } from '../../../core/storage/sqlite/connection.ts';
import { inspect } from './inspection.ts';

export interface BackupData {
  readonly from: string;
  readonly to: string;
  readonly nativeBinding?: string | undefined;
}

/** Copies page by page in one step, so that no writer can make it begin again; row ids stay as they are. */
async function copy({ from, to, nativeBinding }: BackupData): Promise<void> {
  const source = connect(from, { nativeBinding, mustExist: true });
  await source.backup(to, { progress: () => 0x7fffffff });
  source.close();
  const target = connect(to, { nativeBinding });
  target.pragma('journal_mode = DELETE');
  target.close();
}

const data = workerData as BackupData;
// A rejection ends the thread and reaches the other side as its error.
void copy(data).then(() => parentPort!.postMessage(inspect(data.to, data.nativeBinding)));
