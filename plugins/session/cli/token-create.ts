import { timestamp } from 'svc/sdk';
import {
  type Call,
  type Command,
  Failure,
  usageFailure,
  clientOptions,
  openClient,
  type ApiClient,
  printable,
} from 'svc/cli';

/** An API token as the answer to its making shows it, this once. */
interface NewToken {
  readonly id: number;
  readonly name: string;
  readonly token: string;
  readonly actions: readonly string[];
  readonly expires_at: string;
}

const dayMs = 86_400_000;
const usualDays = 90;
const mostDays = 365;

export const command: Command = {
  operands: ['<name>'],
  options: {
    actions: {
      value: 'a,b',
      about:
        'allowed actions, such as read:device,edge:create; you can grant only actions that you have yourself; default: read:*, which allows reading everything',
    },
    days: {
      value: 'days',
      about: `validity in days, at most ${mostDays}; default: ${usualDays}`,
    },
    ...clientOptions,
  },
  about: 'The token acts on your behalf and is shown only once.',
  example: 'svc token create backup-job --actions read:edge,edge:create --days 30',

  async run(call, shell) {
    const expiresAt = timestamp(Date.now() + daysOf(call.value('days')) * dayMs);
    const actions = (call.value('actions') ?? 'read:*').split(',').map((action) => action.trim());
    const client = await openClient(call, shell);
    await assertPerson(client, call);
    const made = await client.post<NewToken>('/api/v1/tokens', {
      name: call.operand(0),
      actions: actions.filter((action) => action !== ''),
      expires_at: expiresAt,
    });
    return {
      data: made,
      text: () =>
        `${made.token}\n${printable(`Token ${made.id} "${made.name}" may ${made.actions.join(', ') || 'nothing'} until ${made.expires_at}; it is not shown again`)}`,
    };
  },
};

function daysOf(text = String(usualDays)): number {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > mostDays) {
    throw usageFailure(`--days must be a whole number from 1 to ${mostDays}`);
  }
  return days;
}

/**
 * Throws unless the caller is a person: the route would accept an operator's statement of whom it
 * acts for, while a person at the command line means themselves.
 */
async function assertPerson(client: ApiClient, call: Call): Promise<void> {
  if ((await client.get<{ readonly kind: string }>('/api/v1/me')).kind === 'operator') {
    const mend = `sign in first with "svc login"${call.has('data') ? ', and leave --data out' : ''}`;
    throw new Failure(
      4,
      'forbidden',
      `an API token belongs to a user, which the operator of the data folder is not: ${mend}`,
    );
  }
}
