import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { type Command, usageFailure, printable } from 'svc/cli';
import { examine } from '../examine/examine-plugin.ts';

export const command: Command = {
  operands: ['<folder>'],
  options: {},
  about:
    'Checks the manifest, dependencies, hashes, code, migrations, personas and skills as at startup, without running anything.',
  example: 'svc plugin check plugins/welcome',

  async run(call) {
    const path = resolve(call.operand(0));
    if (!existsSync(join(path, 'plugin.json'))) {
      throw usageFailure(`${path} is not a plugin folder: it has no plugin.json`);
    }
    const { problems, placement } = await examine(path);
    const ok = problems.length === 0;
    return {
      data: { ok, folder: path, placement: placement ?? null, problems },
      text: (paint) =>
        ok
          ? `${paint.good('ok')} ${path} (${placement})`
          : problems
              .map(({ stage, message }) => `${paint.bad(stage)}: ${printable(message)}`)
              .join('\n'),
      code: ok ? 0 : 1,
    };
  },
};
