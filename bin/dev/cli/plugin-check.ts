import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isSea } from 'node:sea';

import { type Command, usageFailure, printable } from 'svc/cli';
import { currentProduct } from '../../product/product.ts';
import { examine } from '../examine/examine-plugin.ts';
import { outdatedTexts } from '../scaffold/scaffold.ts';

export const command: Command = {
  operands: ['<folder>'],
  options: {},
  about:
    'Checks the manifest, dependencies, hashes, code, migrations, personas and skills as at startup, without running anything. It also names texts that still describe the pack as "svc pack new" created it.',
  example: 'svc plugin check plugins/welcome',

  async run(call) {
    const path = resolve(call.operand(0));
    if (!existsSync(join(path, 'plugin.json'))) {
      throw usageFailure(`${path} is not a plugin folder: it has no plugin.json`);
    }
    const { problems, placement } = await examine(path);
    const ok = problems.length === 0;
    // The single binary creates packs without texts for agents.
    const outdated = isSea()
      ? []
      : outdatedTexts(basename(path), path, (await currentProduct()).root);
    return {
      data: { ok, folder: path, placement: placement ?? null, problems, outdated },
      text: (paint) =>
        [
          ...(ok
            ? [`${paint.good('ok')} ${path} (${placement})`]
            : problems.map(({ stage, message }) => `${paint.bad(stage)}: ${printable(message)}`)),
          ...outdated.map(
            (name) => `${name} still describes the new pack that greets: rewrite or delete it`,
          ),
        ].join('\n'),
      code: ok ? 0 : 1,
    };
  },
};
