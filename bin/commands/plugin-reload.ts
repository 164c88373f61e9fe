import type { Command } from '../cli/command.ts';
import { houseOptions, openHouse } from '../cli/house-access.ts';
import { durationOf, type PluginDetail, pluginPath } from '../cli/plugin-page.ts';

export const command: Command = {
  operands: ['<id>'],
  options: houseOptions,
  about: 'The old generation serves until the new one has come up, and goes on serving when it does not.',
  example: 'svc plugin reload version',

  async run(call) {
    const house = await openHouse(call);
    const plugin = await house.post<PluginDetail>(pluginPath(call.operand(0), 'reload'));
    const took = plugin.last_attempt ? `, up in ${durationOf(plugin.last_attempt)}` : '';
    return { data: plugin, text: () => `${plugin.id} is reloaded: generation ${plugin.generation} serves${took}` };
  },
};
