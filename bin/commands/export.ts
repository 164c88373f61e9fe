import { resolve } from 'node:path';

import { clientOptions, openClient } from '../cli/client-options.ts';
import type { Command } from '../cli/command.ts';
import { exportTo } from '../config-files/export.ts';
import { kindsOf } from '../config-files/kinds.ts';

export const command: Command = {
  operands: ['<folder>'],
  options: clientOptions,
  about:
    'One YAML file for each thing, fit for git. No secret is written: a file names the variable from which "svc apply" takes it. Files of things that are gone are removed.',
  example: 'svc export ./config',

  async run(call) {
    const folder = resolve(call.operand(0));
    const exported = await exportTo(folder, await kindsOf(call.environment), await openClient(call));
    return { data: { folder, exported }, text: () => `${folder} has ${exported.map(({ kind, count }) => `${count} ${kind}`).join(', ')}` };
  },
};
