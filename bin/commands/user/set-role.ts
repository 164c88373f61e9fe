import { findUser, nameOf, type User } from '../../cli/accounts.ts';
import type { Command } from '../../cli/command.ts';
import { clientOptions, openClient } from '../../cli/client-options.ts';

export const command: Command = {
  operands: ['<email|id>', '<role>'],
  options: clientOptions,
  about:
    'It counts from the next request of theirs, and they sign in again. The last administrator stays one.',
  example: 'svc user set-role bob@example.org viewer',

  async run(call) {
    const client = await openClient(call);
    const { id } = await findUser(client, call.operand(0));
    const user = await client.patch<User>(`/api/v1/users/${id}/role`, { role: call.operand(1) });
    return { data: user, text: () => `Now it is ${nameOf(user)}` };
  },
};
