import {
  globalOptions,
  suggestion,
  type Command,
  type Result,
  exitCodes,
  usageFailure,
  printable,
} from 'svc/cli';
import type { Catalogue } from './catalogue.ts';
import { commandPages } from './command-pages.ts';
import { indented, optionRows, pageOf } from './page.ts';

/** The command that tells of the others. */
export const helpOf = (all: () => Promise<Catalogue>): Command => ({
  operands: ['[command…]'],
  options: { markdown: { about: 'print all commands as one markdown page' } },
  about: '',
  example: 'svc help plugin check',

  async run(call) {
    const catalogue = await all();
    if (call.has('markdown')) {
      const markdown = await commandPages(catalogue);
      return { data: { markdown }, text: () => markdown.trimEnd() };
    }
    const words = [call.optionalOperand(0), call.optionalOperand(1)].filter(
      (word) => word !== undefined,
    );
    const name = words.join(' ');
    if (name === '') {
      return overview(catalogue, catalogue.names);
    }
    const entry = catalogue.entry(name);
    if (entry) {
      return pageOf(name, entry.summary, await catalogue.load(name));
    }
    const members = catalogue.membersOf(name);
    if (members.length === 0) {
      throw usageFailure(
        `unknown command "${name}"${suggestion(name, catalogue.names) || '; "svc help" lists all commands'}`,
      );
    }
    return overview(catalogue, members);
  },
});

function overview(catalogue: Catalogue, names: readonly string[]): Result {
  const commands = names.map((name) => ({ name, summary: catalogue.entry(name)!.summary }));
  return {
    data: {
      commands,
      options: Object.entries(globalOptions).map(([name, { about }]) => ({
        name: `--${name}`,
        about,
      })),
      exit_codes: exitCodes,
    },
    text: (paint) =>
      [
        `${paint.strong('Usage')}\n  svc <command> [options]`,
        `${paint.strong('Commands')}\n${indented(commands.map(({ name, summary }) => [printable(name), printable(summary)]))}`,
        `${paint.strong('Global options')}\n${indented(optionRows(globalOptions))}`,
        `${paint.strong('Exit codes')}\n${indented(Object.entries(exitCodes))}`,
        `${paint.strong('Example')}\n  svc help plugin check`,
      ].join('\n\n'),
  };
}
