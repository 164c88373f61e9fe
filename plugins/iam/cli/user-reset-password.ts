import {
  findUser,
  generateOption,
  nameOf,
  newPassword,
  passwordLine,
  shownPassword,
  type User,
  whoAsks,
} from './accounts.ts';
import { type Command, clientOptions, openClient, openQuestions } from 'svc/cli';

export const command: Command = {
  operands: ['<email|id>'],
  options: { ...generateOption, ...clientOptions },
  about:
    "Prompts for the new password twice, or reads it from standard input, and ends the user's sessions. For your own account, it first prompts for the current password.",
  example: 'svc user reset-password bob@example.org --generate',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const { id } = await findUser(client, call.operand(0));
    const isOwn = (await whoAsks(client)).id === id;
    const questions = openQuestions();
    const current = isOwn
      ? { current_password: await questions.askHidden('Current password') }
      : {};
    const chosen = await newPassword(call, questions);
    const user = await client.patch<User>(`/api/v1/users/${id}/password`, {
      password: chosen.password,
      ...current,
    });
    return {
      data: { ...user, ...shownPassword(chosen) },
      text: () =>
        `The password of ${nameOf(user)} was changed and their sessions ended${passwordLine(chosen)}`,
    };
  },
};
