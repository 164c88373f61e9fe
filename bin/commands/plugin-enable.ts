import type { Command } from '../cli/command.ts';
import { houseOptions, openHouse } from '../cli/house-access.ts';
import { printable } from '../cli/layout.ts';
import { painted, type PluginDetail, pluginPath } from '../cli/plugin-page.ts';

export const command: Command = {
  operands: ['<id>'],
  options: houseOptions,
  about: 'Exits with 1 when it is enabled but does not come up.',
  example: 'svc plugin enable version',

  async run(call) {
    const house = await openHouse(call);
    const plugin = await house.post<PluginDetail>(pluginPath(call.operand(0), 'enable'));
    const { id, state, cause } = plugin;
    return {
      data: plugin,
      text: (paint) => `${id} is enabled and ${painted(state, paint)}${cause === null ? '' : `: ${printable(cause)}`}`,
      code: state === 'active' ? 0 : 1,
    };
  },
};
