import { approvalPath, describe, waiting } from './approvals.ts';
import { type Command, clientOptions, openClient, usageFailure, openQuestions } from 'svc/cli';

export const command: Command = {
  operands: ['<approval>'],
  options: {
    yes: { about: 'sign without asking for confirmation; requires --sha256' },
    sha256: { value: 'hash', about: 'sign only if the change still has this hash' },
    comment: { value: 'text', about: 'note to store with the signature' },
    ...clientOptions,
  },
  about:
    'Shows exactly what will run, and signs it. If the arguments change, the change must be signed again. The signature is made as the signed-in user.',
  example: 'svc approval sign 01a20a37-4cfa-7f32-99a8-ccbe072cf8e5',

  async run(call, shell) {
    const client = await openClient(call, shell);
    const approval = await waiting(client, call.operand(0));
    const hash = call.value('sha256');
    if (hash !== undefined && hash !== approval.args_sha256) {
      throw usageFailure(
        '--sha256 does not match the pending change: review it again with "svc approval list"',
      );
    }
    if (!call.has('yes')) {
      process.stderr.write(`${describe(approval)}\n`);
      const answer = await openQuestions().ask('Sign it? Type yes');
      if (answer.trim().toLowerCase() !== 'yes') {
        throw usageFailure('not signed: only "yes" signs');
      }
    } else if (hash === undefined) {
      throw usageFailure(
        '--yes needs --sha256: a change that is signed unseen must be named by its hash, which "svc approval list --json" shows',
      );
    }
    const comment = call.value('comment');
    const body = { args_sha256: approval.args_sha256, ...(comment !== undefined && { comment }) };
    const signed = await client.post<{ status: string }>(
      `${approvalPath(approval.id)}/approve`,
      body,
    );
    return { data: signed, text: () => `Signed; the change is ${signed.status}` };
  },
};
