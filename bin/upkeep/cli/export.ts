import { existsSync, realpathSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

import { clientOptions, openClient, type Command, usageFailure } from 'svc/cli';
import { exportTo } from '../config-files/export.ts';
import { kindsOf } from '../config-files/kinds.ts';
import { currentProduct } from '../../product/product.ts';

export const command: Command = {
  operands: ['<folder>'],
  options: clientOptions,
  about:
    'Writes one YAML file per object, ready for git. Secrets are left out; in place of each secret, the file contains the name of the variable from which "svc apply" reads it. Files of deleted objects are removed.',
  example: 'svc export ./svc-config',

  async run(call, shell) {
    const folder = resolve(call.operand(0));
    await assertOthers(folder);
    const exported = await exportTo(
      folder,
      await kindsOf(call.environment),
      await openClient(call, shell),
    );
    return {
      data: { folder, exported },
      text: () =>
        `In ${folder}: ${exported.map(({ kind, count }) => `${kind} ${count}`).join(', ')}`,
    };
  },
};

/**
 * Throws for the `config/` folder of a checkout, which has svc's defaults and schemas: files of a
 * fleet would be committed among them.
 */
async function assertOthers(folder: string): Promise<void> {
  const { root, embedded } = await currentProduct();
  const own = embedded ? undefined : join(realpathSync(root), 'config');
  const real = existsSync(folder) ? realpathSync(folder) : folder;
  if (own !== undefined && (real === own || real.startsWith(own + sep))) {
    throw usageFailure(
      `${own} belongs to the source checkout of svc: choose another folder, such as ./svc-config`,
    );
  }
}
