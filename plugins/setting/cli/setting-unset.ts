import { type Command, clientOptions, openClient, printable } from 'svc/cli';
import { listSettings, nameOf, settingPath, shownValue } from './settings.ts';

export const command: Command = {
  operands: ['<setting>'],
  options: clientOptions,
  about:
    'Deletes the stored value from the database, including values left behind by uninstalled plugins.',
  example: 'svc setting unset log.level',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const name = call.operand(0);
    await client.delete(settingPath(name));
    const setting = (await listSettings(client)).find((other) => nameOf(other) === name);
    const now = setting
      ? ` is ${printable(shownValue(setting.value)) || 'empty'} now, from: ${setting.source}`
      : ' was deleted; no installed plugin has such a setting';
    return { data: setting ?? { setting: name, value: null }, text: () => name + now };
  },
};
