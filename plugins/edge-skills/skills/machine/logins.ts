import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';

import type { AllowedViews } from '../../reach/allowed-views.ts';
import type { MachinePrograms } from '../../reach/machine-programs.ts';

interface Params {
  readonly last: number;
}

const maxOutput = 256 * 1024;

export const logins = (programs: MachinePrograms, views: AllowedViews): EdgeSkill => ({
  key: 'logins',
  name: 'Who is logged in',
  description:
    'Users who are logged in to the machine now, with terminal, origin and idle time, and the last logins and reboots.',
  class: 'safe',
  tier: 'specialty',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: { last: { type: 'integer', minimum: 0, maximum: 200, default: 20 } },
  },
  async run({ last }: Params, call: SkillCall) {
    views.requireView('logins');
    const now = await programs.ask('who', 'logins', { args: ['-u'], call, maxBytes: maxOutput });
    const hasLast = last > 0 && programs.find('last') !== undefined;
    const before = hasLast
      ? await programs.ask('last', 'logins', {
          args: ['-F', '-w', '-n', String(last)],
          call,
          maxBytes: maxOutput,
          // Without a record of logins it fails, which is an answer.
          codes: [0, 1],
        })
      : undefined;
    return {
      result: {
        now: now.text.split('\n').flatMap(readSession),
        last: before === undefined ? [] : before.text.split('\n').flatMap(readLogin),
        ...(last > 0 && !hasLast && { note: 'this machine has no program last' }),
      },
    };
  },
});

/** `ann  pts/0  Nov 29 23:41 00:05  1234 (192.0.2.7)`; some print the day as 2026-11-29. */
function readSession(line: string) {
  const [, user, terminal, since, idle, pid, from] =
    /^(\S+)\s+(?:[-+?] )?(\S+)\s+((?:\d{4}-\d\d-\d\d|\w{3} [ \d]\d) \d\d:\d\d)\s+(\S+)\s+(\d+)(?:\s+\((.*)\))?/.exec(
      line,
    ) ?? [];
  return user === undefined
    ? []
    : [
        {
          user,
          terminal: terminal!,
          since: since!,
          idle: idle === '.' ? 'active' : idle!,
          pid: Number(pid),
          from: from ?? null,
        },
      ];
}

/** `root pts/1 127.0.0.1 Sun Nov 29 23:41:32 2026 - Sun Nov 29 23:41:33 2026 (00:00)`. */
function readLogin(line: string) {
  const [, user, terminal, from, since, rest] =
    /^(\S+)\s+(\S+(?: boot)?)\s+(\S*)\s+(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\s*(.*)$/.exec(
      line,
    ) ?? [];
  if (user === undefined) {
    return [];
  }
  const [until] = /\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}/.exec(rest!) ?? [];
  return [
    {
      user,
      terminal: terminal!,
      from: from || null,
      since: timeOf(since!),
      until: until === undefined ? null : timeOf(until),
      state: until === undefined ? rest!.replace(/^- /, '').trim() || null : 'ended',
    },
  ];
}

/** Programs of this machine are told to use UTC. */
function timeOf(text: string): string | null {
  const ms = Date.parse(`${text.replaceAll(/\s+/g, ' ')} UTC`);
  return Number.isFinite(ms) ? new Date(ms).toISOString().replace('.000', '') : null;
}
