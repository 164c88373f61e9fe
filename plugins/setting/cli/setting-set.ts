import {
  type Command,
  usageFailure,
  clientOptions,
  openClient,
  printable,
  openQuestions,
} from 'svc/cli';
import { findSetting, type Setting, settingPath, shownValue, typedValue } from './settings.ts';

export const command: Command = {
  operands: ['<setting>', '[value]'],
  options: clientOptions,
  about:
    'Takes effect immediately. Without a value, prompts for it or reads it from standard input; secrets can only be set that way. Separate the items of a list with commas; write other values as JSON.',
  example: 'svc setting set log.level debug',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const name = call.operand(0);
    const setting = await findSetting(client, name);
    const text = call.optionalOperand(1);
    if (setting.sensitive && text !== undefined) {
      throw usageFailure(
        `${name} is a secret, and every user of this machine can read arguments: leave the value out, and svc asks for it`,
      );
    }
    const value = typedValue(text ?? (await asked(name, setting)), setting);
    const changed = await client.put<Setting>(settingPath(name), { value });
    return { data: changed, text: () => `${name} is ${printable(shownValue(changed.value))}` };
  },
};

function asked(name: string, { sensitive }: Setting): Promise<string> {
  const questions = openQuestions();
  return sensitive && questions.atTerminal ? questions.askHidden(name) : questions.askWhole(name);
}
