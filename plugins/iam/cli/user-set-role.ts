import { findUser, nameOf, type User } from './accounts.ts';
import { type Command, clientOptions, openClient } from 'svc/cli';

export const command: Command = {
  operands: ['<email|id>', '<role>'],
  options: clientOptions,
  about:
    'It counts from the next request of theirs, and they sign in again. The last administrator stays one.',
  example: 'svc user set-role bob@example.org viewer',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const { id } = await findUser(client, call.operand(0));
    const user = await client.patch<User>(`/api/v1/users/${id}/role`, { role: call.operand(1) });
    return { data: user, text: () => `Now it is ${nameOf(user)}` };
  },
};
