import type { Command } from '../../cli/command.ts';
import { houseOptions, openHouse } from '../../cli/house-access.ts';
import { type PluginDetail, pluginPath } from '../../cli/plugin-page.ts';

export const command: Command = {
  operands: ['<id>'],
  options: { cascade: { about: 'also when other plugins need it; they are blocked until it is enabled' }, ...houseOptions },
  about: 'It stays out of service over restarts, until "svc plugin enable".',
  example: 'svc plugin disable version --cascade',

  async run(call) {
    const house = await openHouse(call);
    const path = pluginPath(call.operand(0));
    const { dependents } = await house.get<PluginDetail>(path);
    const plugin = await house.post<PluginDetail>(`${path}/disable${call.has('cascade') ? '?cascade=true' : ''}`);
    const blocked = dependents.length === 0 ? '' : `; without it these are blocked: ${dependents.join(', ')}`;
    return { data: plugin, text: () => `${plugin.id} is ${plugin.state}${blocked}` };
  },
};
