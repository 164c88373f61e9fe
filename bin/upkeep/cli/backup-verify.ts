import { resolve } from 'node:path';

import { verifyBackup } from '../backup/backup.ts';
import { partsOf } from '../backup/manifest.ts';
import { partsText } from './backup-text.ts';
import type { Command } from 'svc/cli';
import { withProgress } from '../../product/with-progress.ts';
import { currentProduct } from '../../product/product.ts';

export const command: Command = {
  operands: ['<dir>'],
  options: {},
  about: 'Reads every byte of the backup and counts the rows of every table.',
  example: 'svc backup verify /mnt/backup/svc-today',

  async run(call) {
    const dir = resolve(call.operand(0));
    const product = await currentProduct();
    const manifest = await withProgress(`Verifying ${dir}`, () => verifyBackup(dir, product));
    const rows = Object.values(manifest.tables).reduce((sum, count) => sum + count, 0);
    return {
      data: { ok: true, dir, ...manifest, parts: partsOf(manifest) },
      text: (paint) =>
        `${paint.good('ok')} ${dir}: created ${manifest.created_at} by svc ${manifest.app_version}, ${rows} rows in ${Object.keys(manifest.tables).length} tables\n${partsText(manifest)}`,
    };
  },
};
