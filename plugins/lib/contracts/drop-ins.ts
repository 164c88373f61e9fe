import { defineExtensionPoint, defineService } from 'svc/sdk';

/** A persona (`agents/<name>.md`) or a skill (`skills/<name>/SKILL.md`) that a plugin's folder carries; the host contributes it. */
export interface CarriedFile {
  /** Path within the plugin's folder. */
  readonly file: string;
  /** Path of the file, as shown to people. */
  readonly path: string;
  readonly text: string;
  /** Id of the pack whose folder it is in; absent for what ships with svc. */
  readonly pack?: string;
}

/** Content of drop-in files, and the errors of those that cannot be read. */
export interface DropInFiles {
  list(): readonly {
    readonly kind: 'persona' | 'skill';
    readonly name: string;
    readonly file: string;
    readonly state: 'ok' | 'broken' | 'stale';
    readonly error?: string | undefined;
  }[];
}

export const DropInFiles = defineService<DropInFiles>('drop-ins.listing');
/**
 * Closed to packs: their files are what their folder holds, under the names that an administrator
 * was shown.
 */
export const CarriedFiles = defineExtensionPoint<CarriedFile>('drop-ins.files', {
  type: 'object',
  required: ['file', 'path', 'text'],
  properties: {
    file: { type: 'string', pattern: '^agents/[^/]+\\.md$|^skills/[^/]+/SKILL\\.md$' },
    path: { type: 'string' },
    text: { type: 'string' },
    pack: { type: 'string' },
  },
});
