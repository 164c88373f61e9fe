import {
  generateOption,
  nameOf,
  newPassword,
  passwordLine,
  shownPassword,
  type User,
} from './accounts.ts';
import { type Command, clientOptions, openClient, openQuestions } from 'svc/cli';

export const command: Command = {
  operands: ['<email>'],
  options: {
    role: { value: 'role', about: 'admin, user, viewer (default) or a custom role' },
    name: {
      value: 'name',
      about: 'display name; default: the part of the e-mail address before @',
    },
    ...generateOption,
    ...clientOptions,
  },
  about:
    'Prompts for the password twice, or reads it from standard input. On the machine that runs svc, this command can also create the first administrator.',
  example: 'svc user create ann@example.org --role admin --name Ann',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const chosen = await newPassword(call, openQuestions());
    const user = await client.post<User>('/api/v1/users', {
      email: call.operand(0),
      password: chosen.password,
      ...(call.has('role') && { role: call.value('role') }),
      ...(call.has('name') && { display_name: call.value('name') }),
    });
    return {
      data: { ...user, ...shownPassword(chosen) },
      text: () => `Created ${nameOf(user)}${passwordLine(chosen)}`,
    };
  },
};
