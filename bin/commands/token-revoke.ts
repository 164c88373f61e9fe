import type { Command } from '../cli/command.ts';
import { usageFailure } from '../cli/failure.ts';
import { houseOptions, openHouse } from '../cli/house-access.ts';

export const command: Command = {
  operands: ['<id>'],
  options: houseOptions,
  about: 'It is refused from then on. "svc token list" shows the ids of yours; administrators and the operator revoke those of others, too.',
  example: 'svc token revoke 7',

  async run(call) {
    const id = call.operand(0);
    if (!/^\d{1,15}$/.test(id)) {
      throw usageFailure('an API token is named by its number, as "svc token list" shows it, and never by itself');
    }
    const house = await openHouse(call);
    await house.delete(`/api/v1/tokens/${id}`);
    return { data: { id: Number(id), revoked: true }, text: () => `Token ${id} is revoked` };
  },
};
