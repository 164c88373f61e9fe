import { resolve } from 'node:path';

import { clientOptions, openClient, type Command, printable } from 'svc/cli';
import { apply, type Change } from '../config-files/apply.ts';
import { kindsOf } from '../config-files/kinds.ts';

export const command: Command = {
  operands: ['<folder>'],
  options: {
    ...clientOptions,
    'dry-run': { about: 'show what would change, without changing anything' },
  },
  about:
    'Applies files written by "svc export". Objects without a file are left alone; nothing is deleted. Each change is recorded in the audit log.',
  example: 'svc apply ./svc-config --dry-run',

  async run(call, shell) {
    const dryRun = call.has('dry-run');
    const folder = resolve(call.operand(0));
    const { changes, warnings } = await apply({
      folder,
      kinds: await kindsOf(call.environment),
      client: await openClient(call, shell),
      environment: call.environment,
      dryRun,
    });
    return {
      data: { dry_run: dryRun, changes, warnings },
      text: () => {
        const done =
          changes.length === 0
            ? `svc already matches ${folder}`
            : dryRun
              ? 'Nothing was changed'
              : 'Done';
        return [
          ...warnings.map((warning) => printable(`warning: ${warning}`)),
          ...changes.map(told),
          done,
        ].join('\n');
      },
    };
  },
};

const told = ({ kind, key, change, differs }: Change): string => {
  const fields =
    change === 'create'
      ? []
      : differs.map(({ field, there, here }) => `    ${field}: ${shown(there)} -> ${shown(here)}`);
  return [`${change === 'create' ? '+' : '~'} ${kind}/${key}`, ...fields].map(printable).join('\n');
};

const shown = (value: unknown): string =>
  value === undefined ? '(secret)' : JSON.stringify(value);
