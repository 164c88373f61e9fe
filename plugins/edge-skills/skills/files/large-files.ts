import type { EdgeSkill } from 'svc/contracts/edge-skills';
import type { SlowCalls } from 'svc/probe';
import { timestamp } from 'svc/sdk';

import type { AllowedPaths } from '../../reach/allowed-paths.ts';
import { walkTree } from '../../reach/tree-walk.ts';
import { fitRows } from '../fit-rows.ts';
import { treeSchema, type TreeParams } from './tree-schema.ts';
import { walkNote } from './walk-note.ts';

interface Params extends TreeParams {
  readonly min_bytes: number;
}

interface Large {
  readonly path: string;
  readonly size_bytes: number;
  readonly disk_bytes: number;
  readonly modified_at: string;
}

export const largeFiles = (paths: AllowedPaths, slow: SlowCalls): EdgeSkill => ({
  key: 'large_files',
  name: 'Large files',
  description:
    'The largest files below a folder. Links are not followed and other file systems are not entered.',
  class: 'safe',
  tier: 'core',
  maxMs: 60_000,
  schema: treeSchema(20, {
    min_bytes: {
      type: 'integer',
      minimum: 0,
      default: 1048576,
      description: 'Minimum size in bytes; smaller files are left out.',
    },
  }),
  run: ({ path, top, min_bytes: least, max_entries: maxEntries }: Params, call) =>
    paths.with(path, async (start) => {
      const found: Large[] = [];
      const keep = (): void =>
        void found
          .sort((a, b) => b.size_bytes - a.size_bytes || (a.path < b.path ? -1 : 1))
          .splice(top);
      let lastFolder: string | undefined;
      const report = await walkTree<undefined>(start, {
        paths,
        slow,
        call,
        maxEntries,
        root: undefined,
        see({ path: at, stats }) {
          lastFolder = stats.isDirectory() ? at : lastFolder;
          if (stats.isFile() && stats.size >= BigInt(least)) {
            const modified = timestamp(Number(stats.mtimeMs));
            found.push({
              path: at,
              size_bytes: Number(stats.size),
              disk_bytes: Number(stats.blocks) * 512,
              modified_at: modified,
            });
            if (found.length >= top * 4) {
              keep();
            }
          }
          return undefined;
        },
      });
      keep();
      return walkNote({ path: start.path, files: fitRows(found) }, report, lastFolder);
    }),
});
