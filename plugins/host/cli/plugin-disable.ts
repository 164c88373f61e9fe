import { type Command, clientOptions, openClient } from 'svc/cli';
import { type PluginDetail, pluginPath } from './plugin-detail.ts';

export const command: Command = {
  operands: ['<id>'],
  options: {
    cascade: {
      about: 'disable it even if other plugins need it; they are blocked until it is enabled again',
    },
    ...clientOptions,
  },
  about: 'The plugin stays disabled across restarts, until you run "svc plugin enable".',
  example: 'svc plugin disable version --cascade',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const path = pluginPath(call.operand(0));
    const { dependents } = await client.get<PluginDetail>(path);
    const plugin = await client.post<PluginDetail>(
      `${path}/disable${call.has('cascade') ? '?cascade=true' : ''}`,
    );
    const blocked = dependents.length === 0 ? '' : `; blocked without it: ${dependents.join(', ')}`;
    return { data: plugin, text: () => `${plugin.id} is ${plugin.state}${blocked}` };
  },
};
