import type { Command } from '../cli/command.ts';
import { houseOptions, openHouse } from '../cli/house-access.ts';
import { printable, table } from '../cli/layout.ts';
import { listSettings, nameOf, shownValue } from '../cli/settings.ts';

const widest = 60;

export const command: Command = {
  operands: [],
  options: houseOptions,
  about: 'The environment goes before the database, that before the settings file, that before the default. A secret that is set shows as ••••.',
  example: 'svc setting list',

  async run(call) {
    const items = await listSettings(await openHouse(call));
    return {
      data: { items },
      text: (paint) => {
        const rows = items.map((setting) => [
          nameOf(setting),
          shortened(printable(shownValue(setting.value))),
          setting.source,
          paint.warn(printable(setting.problem ?? '')),
        ]);
        return table([['SETTING', 'VALUE', 'SOURCE', 'PROBLEM'], ...rows]);
      },
    };
  },
};

const shortened = (text: string): string => (text.length > widest ? `${text.slice(0, widest - 1)}…` : text);
