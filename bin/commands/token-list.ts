import { actionsOf, type ApiToken, assertPerson } from '../cli/api-tokens.ts';
import type { Command } from '../cli/command.ts';
import { houseOptions, openHouse } from '../cli/house-access.ts';
import { printable, table } from '../cli/layout.ts';

export const command: Command = {
  operands: [],
  options: houseOptions,
  about: 'Yours, without the tokens themselves.',
  example: 'svc token list',

  async run(call) {
    const house = await openHouse(call);
    await assertPerson(house);
    const items = await house.list<ApiToken>('/api/v1/tokens');
    return {
      data: { items },
      text: () => {
        const rows = items.map((token) => [String(token.id), printable(token.name), actionsOf(token), token.expires_at, token.last_used_at ?? 'never']);
        return items.length === 0 ? 'You have no API token; "svc token create" makes one' : table([['ID', 'NAME', 'MAY', 'UNTIL', 'LAST USED'], ...rows]);
      },
    };
  },
};
