import { approvalPath, waiting } from './approvals.ts';
import { type Command, clientOptions, openClient } from 'svc/cli';

export const command: Command = {
  operands: ['<approval>', '<reason>'],
  options: clientOptions,
  about: 'The change will not run. The agent that requested it receives the reason.',
  example: "svc approval deny 01a20a37-4cfa-7f32-99a8-ccbe072cf8e5 'not before the backup'",

  async run(call, shell) {
    const client = await openClient(call, shell);
    const approval = await waiting(client, call.operand(0));
    const denied = await client.post<{ status: string }>(`${approvalPath(approval.id)}/deny`, {
      args_sha256: approval.args_sha256,
      reason: call.operand(1),
    });
    return { data: denied, text: () => `The change is ${denied.status}` };
  },
};
