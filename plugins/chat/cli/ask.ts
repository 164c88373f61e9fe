import { type Command, clientOptions, openClient, printable } from 'svc/cli';

interface Reply {
  readonly message: string;
  readonly agent: string | null;
  readonly finish_reason: string;
  readonly approvals: readonly string[];
  readonly tool_calls: readonly {
    readonly name: string;
    readonly status: string;
    readonly result_preview: string;
  }[];
}

const withinMs = 15 * 60_000;
/** States of a tool call whose result the answer is missing; a person must not take it for complete. */
const withoutResult: ReadonlySet<string> = new Set([
  'refused',
  'denied',
  'error',
  'timeout',
  'unknown',
]);

export const command: Command = {
  operands: ['<question>'],
  options: {
    agent: {
      value: 'name',
      about: 'persona to ask; default: the best match for the question',
    },
    session: {
      value: 'id',
      about: 'continue this session; its id is printed with each answer',
    },
    ...clientOptions,
  },
  about:
    'Requires a model; to test it, run "svc llm doctor". Changes proposed by the agent wait for "svc approval sign".',
  example: "svc ask 'why is db-3 swapping?'",

  async run(call, shell) {
    const client = await openClient(call, shell);
    const agent = call.value('agent');
    const session =
      call.value('session') ?? (await client.post<{ id: string }>('/api/v1/chat/sessions', {})).id;
    if (!call.json) {
      process.stderr.write('asking …\n');
    }
    const content = { content: call.operand(0), ...(agent !== undefined && { agent }) };
    const reply = await client.post<Reply>(
      `/api/v1/chat/sessions/${encodeURIComponent(session)}/messages`,
      content,
      withinMs,
    );
    return {
      data: { session, ...reply },
      text: () =>
        [
          ...reply.message.split('\n').map(printable),
          '',
          ...(reply.agent === null ? [] : [`Answered by ${printable(reply.agent)}`]),
          ...reply.tool_calls
            .filter(({ status }) => withoutResult.has(status))
            .map(
              ({ name, status, result_preview: why }) =>
                `Tool call ${status}: ${printable(name)}: ${printable(why.split('\n', 1)[0]!)}`,
            ),
          ...reply.approvals.map(
            (id) => `Waiting for a signature: svc approval sign ${printable(id)}`,
          ),
          `Continue with: svc ask --session ${printable(session)} '…'`,
        ].join('\n'),
      code: reply.finish_reason === 'error' ? 1 : 0,
    };
  },
};
