import type { EdgeSkill } from 'svc/contracts/edge-skills';
import type { SlowCalls } from 'svc/probe';

import type { AllowedPaths } from '../../reach/allowed-paths.ts';
import { walkTree } from '../../reach/tree-walk.ts';
import { fitRows } from '../fit-rows.ts';
import { treeSchema, type TreeParams } from './tree-schema.ts';
import { walkNote } from './walk-note.ts';

interface Params extends TreeParams {
  readonly depth: number;
}

interface Usage {
  readonly path: string;
  readonly depth: number;
  readonly above: Usage | undefined;
  /** Size on disk. */
  bytes: number;
  /** Size as the files state it. */
  size: number;
  files: number;
}

const maxLinked = 100_000;

export const diskUsage = (paths: AllowedPaths, slow: SlowCalls): EdgeSkill => ({
  key: 'disk_usage',
  name: 'Disk usage',
  description:
    'Disk space used by the folders below a folder, largest first. Links are not followed and other file systems are not entered; a file with several hard links counts once.',
  class: 'safe',
  tier: 'core',
  maxMs: 60_000,
  schema: treeSchema(30, {
    depth: {
      type: 'integer',
      minimum: 0,
      maximum: 4,
      default: 1,
      description: 'Number of folder levels to list individually.',
    },
  }),
  run: ({ path, depth, top, max_entries: maxEntries }: Params, call) =>
    paths.with(path, async (start) => {
      const linked = new Set<string>();
      const root: Usage = {
        path: start.path,
        depth: 0,
        above: undefined,
        bytes: Number(start.stats.blocks) * 512,
        size: 0,
        files: 0,
      };
      const folders = [root];
      const report = await walkTree<Usage>(start, {
        paths,
        slow,
        call,
        maxEntries,
        root,
        see({ path: at, stats }, folder) {
          let usage = folder;
          if (stats.isDirectory() && folder.depth < depth) {
            usage = {
              path: at,
              depth: folder.depth + 1,
              above: folder,
              bytes: 0,
              size: 0,
              files: 0,
            };
            folders.push(usage);
          }
          const id = `${stats.dev}:${stats.ino}`;
          if (!stats.isDirectory() && stats.nlink > 1n) {
            if (linked.has(id)) {
              return usage;
            }
            if (linked.size < maxLinked) {
              linked.add(id);
            }
          }
          for (let to: Usage | undefined = usage; to !== undefined; to = to.above) {
            to.bytes += Number(stats.blocks) * 512;
            to.size += stats.isFile() ? Number(stats.size) : 0;
            to.files += stats.isDirectory() ? 0 : 1;
          }
          return usage;
        },
      });
      const rows = folders
        .sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1))
        .slice(0, top)
        .map(({ path: at, bytes, size, files }) => ({
          path: at,
          disk_bytes: bytes,
          file_bytes: size,
          files,
        }));
      return walkNote({ path: start.path, folders: fitRows(rows) }, report, folders[1]?.path);
    }),
});
