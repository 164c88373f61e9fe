import { findUser, nameOf, type User } from '../../cli/accounts.ts';
import type { Command } from '../../cli/command.ts';
import { houseOptions, openHouse } from '../../cli/house-access.ts';

export const command: Command = {
  operands: ['<email|id>', '<role>'],
  options: houseOptions,
  about: 'It counts from the next request of theirs, and they sign in again. The last administrator stays one.',
  example: 'svc user set-role bob@example.org viewer',

  async run(call) {
    const house = await openHouse(call);
    const { id } = await findUser(house, call.operand(0));
    const user = await house.patch<User>(`/api/v1/users/${id}/role`, { role: call.operand(1) });
    return { data: user, text: () => `Now it is ${nameOf(user)}` };
  },
};
