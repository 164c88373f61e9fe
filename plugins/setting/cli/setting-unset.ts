import { type Command, clientOptions, openClient, printable } from 'svc/cli';
import { listSettings, nameOf, settingPath, shownValue } from './settings.ts';

export const command: Command = {
  operands: ['<setting>'],
  options: clientOptions,
  about: 'Forgets the value in the database, also one that is left from a plugin that is gone.',
  example: 'svc setting unset log.level',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const name = call.operand(0);
    await client.delete(settingPath(name));
    const setting = (await listSettings(client)).find((other) => nameOf(other) === name);
    const now = setting
      ? ` is ${printable(shownValue(setting.value)) || 'empty'} now, from: ${setting.source}`
      : ' is forgotten; no plugin that is here knows it';
    return { data: setting ?? { setting: name, value: null }, text: () => name + now };
  },
};
