import { findUser, nameOf, type User } from './accounts.ts';
import { type Command, clientOptions, openClient } from 'svc/cli';

export const command: Command = {
  operands: ['<email|id>', '<role>'],
  options: clientOptions,
  about:
    "Takes effect with the user's next request and ends their sessions. The role of the last administrator cannot be changed.",
  example: 'svc user set-role bob@example.org viewer',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const { id } = await findUser(client, call.operand(0));
    const user = await client.patch<User>(`/api/v1/users/${id}/role`, { role: call.operand(1) });
    return { data: user, text: () => `Changed: ${nameOf(user)}` };
  },
};
