import { globalOptions, suggestion } from '../cli/arguments.ts';
import { catalogue, membersOf } from '../cli/catalogue.ts';
import type { Command, Result } from '../cli/command.ts';
import { exitCodes, usageFailure } from '../cli/failure.ts';
import { indented, optionRows, pageOf } from '../cli/page.ts';

export const command: Command = {
  operands: ['[command…]'],
  options: {},
  about: '',
  example: 'svc help plugin why',

  async run(call) {
    const words = [call.optionalOperand(0), call.optionalOperand(1)].filter((word) => word !== undefined);
    const name = words.join(' ');
    if (name === '') {
      return overview(Object.keys(catalogue));
    }
    const entry = Object.hasOwn(catalogue, name) ? catalogue[name] : undefined;
    if (entry) {
      return pageOf(name, (await entry.load()).command);
    }
    const members = membersOf(name);
    if (members.length === 0) {
      throw usageFailure(`there is no command "${name}"${suggestion(name, Object.keys(catalogue)) || '; "svc help" lists them all'}`);
    }
    return overview(members);
  },
};

function overview(names: readonly string[]): Result {
  const commands = names.map((name) => ({ name, summary: catalogue[name]!.summary }));
  return {
    data: { commands, options: Object.entries(globalOptions).map(([name, { about }]) => ({ name: `--${name}`, about })), exit_codes: exitCodes },
    text: (paint) =>
      [
        `${paint.strong('Usage')}\n  svc <command> [options]`,
        `${paint.strong('Commands')}\n${indented(commands.map(({ name, summary }) => [name, summary]))}`,
        `${paint.strong('Options of every command')}\n${indented(optionRows(globalOptions))}`,
        `${paint.strong('Exit codes')}\n${indented(Object.entries(exitCodes))}`,
        `${paint.strong('Example')}\n  svc help plugin why`,
      ].join('\n\n'),
  };
}
