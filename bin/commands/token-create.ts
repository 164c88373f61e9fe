import { actionsOf, type ApiToken, assertPerson } from '../cli/api-tokens.ts';
import { timestamp } from '../../core/sdk/index.ts';
import type { Command } from '../cli/command.ts';
import { usageFailure } from '../cli/failure.ts';
import { houseOptions, openHouse } from '../cli/house-access.ts';
import { printable } from '../cli/layout.ts';

const dayMs = 86_400_000;
const usualDays = 90;
const mostDays = 365;

export const command: Command = {
  operands: ['<name>'],
  options: {
    actions: { value: 'a,b', about: 'what it may do beyond reading, such as edge:create,device:*; no more than you may' },
    days: { value: 'days', about: `how long it is good for, at most ${mostDays}; default: ${usualDays}` },
    ...houseOptions,
  },
  about: 'It acts for you, and is shown this once.',
  example: 'svc token create backup-job --actions edge:create,device:* --days 30',

  async run(call) {
    const expiresAt = timestamp(Date.now() + daysOf(call.value('days')) * dayMs);
    const actions = (call.value('actions') ?? '').split(',').map((action) => action.trim());
    const house = await openHouse(call);
    await assertPerson(house);
    const made = await house.post<ApiToken & { readonly token: string }>('/api/v1/tokens', {
      name: call.operand(0),
      actions: actions.filter((action) => action !== ''),
      expires_at: expiresAt,
    });
    return {
      data: made,
      text: () => `${made.token}\n${printable(`Token ${made.id} "${made.name}" may ${actionsOf(made)} until ${made.expires_at}; it is not shown again`)}`,
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
