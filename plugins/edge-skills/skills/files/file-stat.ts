import type { EdgeSkill } from 'svc/contracts/edge-skills';
import { accountsOf, type MachineFiles } from 'svc/probe';
import { timestamp } from 'svc/sdk';

import { type AllowedPaths, kindOf } from '../../reach/allowed-paths.ts';

export const fileStat = (paths: AllowedPaths, files: MachineFiles): EdgeSkill => ({
  key: 'file_stat',
  name: 'File details',
  description:
    'Type, size, owner, permissions and timestamps of a file or folder, without opening it. If the path is a link, its target is shown.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['path'],
    properties: { path: { type: 'string', minLength: 1, maxLength: 4096 } },
  },
  run: ({ path: asked }: { path: string }) =>
    paths.with(asked, async ({ path, stats }) => ({
      result: {
        path,
        kind: kindOf(stats),
        size_bytes: Number(stats.size),
        disk_bytes: Number(stats.blocks) * 512,
        mode: (Number(stats.mode) & 0o7777).toString(8).padStart(4, '0'),
        user: accountsOf(files).get(Number(stats.uid)) ?? String(stats.uid),
        gid: Number(stats.gid),
        /** Names of the same file, here and elsewhere. */
        links: Number(stats.nlink),
        modified_at: timestamp(Number(stats.mtimeMs)),
        changed_at: timestamp(Number(stats.ctimeMs)),
        accessed_at: timestamp(Number(stats.atimeMs)),
      },
    })),
});
