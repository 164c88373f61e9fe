import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import type { Call, Command } from 'svc/cli';
import { currentProduct } from '../../product/product.ts';
import { textsForAgents } from '../scaffold/scaffold.ts';
import { command as newPlugin } from './plugin-new.ts';

export const command: Command = {
  operands: ['<id>'],
  options: {
    dir: { value: 'dir', about: 'parent folder of the new pack; default: the current folder' },
  },
  about:
    "Creates a pack with a route, a persona, a guide for agents and a passing test. It must be outside svc's plugins/ folder.",
  example: 'svc pack new greeter --dir ~/packs',

  async run(call, shell) {
    const id = call.operand(0);
    const parent = resolve(call.value('dir') ?? '.');
    const inParent: Call = {
      ...bound(call),
      value: (option) => (option === 'dir' ? parent : call.value(option)),
    };
    const made = await newPlugin.run(inParent, shell);
    const folder = join(parent, id);
    const texts = textsForAgents(id, (await currentProduct()).root);
    for (const [name, text] of texts) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text, { flag: 'wx' });
    }
    const more = [...texts.keys()].map((name) => join(folder, name));
    return {
      data: {
        ...(made.data as object),
        files: [...(made.data as { files: string[] }).files, ...more],
      },
      text: (paint) =>
        `${made.text(paint)}\n\nPersona and guide:\n${more.map((file) => `  ${relative('', file)}`).join('\n')}\nThen: svc pack check ${relative('', folder)}`,
    };
  },
};

/** Functions of a call, bound so that they can be destructured. */
const bound = (call: Call): Call => ({
  ...call,
  operand: (index) => call.operand(index),
  optionalOperand: (index) => call.optionalOperand(index),
  has: (option) => call.has(option),
  value: (option) => call.value(option),
});
