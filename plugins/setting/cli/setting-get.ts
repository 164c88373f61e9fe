import { type Command, clientOptions, openClient, printable } from 'svc/cli';
import { findSetting, settingPath, shownValue } from './settings.ts';

export const command: Command = {
  operands: ['<setting>'],
  options: {
    reveal: { about: 'show the value of a secret; this is recorded in the audit log' },
    ...clientOptions,
  },
  about: 'Prints only the value, for use in scripts.',
  example: 'svc setting get log.level',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const name = call.operand(0);
    const setting = await findSetting(client, name);
    const { value } = call.has('reveal')
      ? await client.get<{ value: unknown }>(settingPath(name, 'reveal'))
      : setting;
    return { data: { ...setting, value }, text: () => printable(shownValue(value)) };
  },
};
