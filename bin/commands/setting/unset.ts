import type { Command } from '../../cli/command.ts';
import { houseOptions, openHouse } from '../../cli/house-access.ts';
import { printable } from '../../cli/layout.ts';
import { listSettings, nameOf, settingPath, shownValue } from '../../cli/settings.ts';

export const command: Command = {
  operands: ['<setting>'],
  options: houseOptions,
  about: 'Forgets the value in the database, also one that is left from a plugin that is gone.',
  example: 'svc setting unset log.level',

  async run(call) {
    const house = await openHouse(call);
    const name = call.operand(0);
    await house.delete(settingPath(name));
    const setting = (await listSettings(house)).find((other) => nameOf(other) === name);
    const now = setting
      ? ` is ${printable(shownValue(setting.value)) || 'empty'} now, from: ${setting.source}`
      : ' is forgotten; no plugin that is here knows it';
    return { data: setting ?? { setting: name, value: null }, text: () => name + now };
  },
};
