import { parseDuration } from 'svc/query';
import type { PluginContext, Tables } from 'svc/sdk';

import { type InvestigateTables, RunStore } from './run-store.ts';
import type { SnapshotFiles } from './snapshot/snapshot-files.ts';

const tidyMs = 600_000;
const mebibyte = 1_024 * 1_024;

/** Deletes, every ten minutes, reports that are too old, and snapshots beyond the size limit. */
export function startTidying(
  { clock, scope, settings }: Pick<PluginContext, 'clock' | 'scope' | 'settings'>,
  tables: Tables<InvestigateTables>,
  files: SnapshotFiles,
): void {
  scope.interval('remove old investigations', tidyMs, async () => {
    const before = clock.now() - parseDuration(settings.get<string>('investigate.retention'));
    let room = settings.get<number>('investigate.keep_mb') * mebibyte;
    for (const run of await new RunStore(tables.read).snapshots()) {
      room -= run.snapshot_bytes;
      if (room < 0 || run.created_at < before) {
        await files.remove(run.id);
        await tables.write((tx) => new RunStore(tx).change(run.id, { snapshot_bytes: 0 }));
      }
    }
    await tables.write((tx) => new RunStore(tx).removeBefore(before));
  });
}
