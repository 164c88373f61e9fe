import type { Command } from '../cli/command.ts';
import { houseOptions, openHouse } from '../cli/house-access.ts';
import { printable, table } from '../cli/layout.ts';
import { painted, type PluginSummary } from '../cli/plugin-page.ts';

export const command: Command = {
  operands: [],
  options: houseOptions,
  about: '"svc plugin why <id>" says more about one of them.',
  example: 'svc plugin list',

  async run(call) {
    const house = await openHouse(call);
    const items = await house.list<PluginSummary>('/api/v1/plugins');
    return {
      data: { items },
      text: (paint) => {
        const rows = items.map(({ id, version, state, generation, since, cause }) => [
          id,
          version ?? '',
          painted(state, paint),
          generation === null ? '' : String(generation),
          since,
          printable(cause ?? ''),
        ]);
        return table([['PLUGIN', 'VERSION', 'STATE', 'GENERATION', 'SINCE', 'CAUSE'], ...rows]);
      },
    };
  },
};
