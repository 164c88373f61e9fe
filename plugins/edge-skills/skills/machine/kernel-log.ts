import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import type { MachineFiles } from 'svc/probe';

import type { AllowedViews } from '../../reach/allowed-views.ts';
import type { MachinePrograms } from '../../reach/machine-programs.ts';
import { fitRows } from '../fit-rows.ts';
import { readJournal } from './journal.ts';

interface Params {
  readonly priority: number;
  readonly lines: number;
  readonly contains?: string;
}

interface Line {
  readonly at: string | null;
  readonly priority: number | null;
  readonly message: string;
}

const maxOutput = 4 * 1024 * 1024;
const levels = ['emerg', 'alert', 'crit', 'err', 'warn', 'notice', 'info', 'debug'];
/** Matches messages about a process that was ended for lack of memory. */
const outOfMemory = /out of memory|oom-kill|oom_reaper|killed process \d+/i;

export const kernelLog = (
  programs: MachinePrograms,
  views: AllowedViews,
  files: MachineFiles,
): EdgeSkill => ({
  key: 'kernel_log',
  name: 'Kernel log',
  description:
    'Kernel messages since the machine booted, oldest first: disk and file system errors, network, hardware. Processes killed because memory ran out (OOM) are listed and counted separately.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      priority: {
        type: 'integer',
        minimum: 0,
        maximum: 7,
        default: 6,
        description: 'Least severe syslog priority to include: 3 for errors and worse.',
      },
      lines: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
      contains: {
        type: 'string',
        minLength: 1,
        maxLength: 200,
        description: 'Only messages that contain this text, ignoring case.',
      },
    },
  },
  async run({ priority, lines, contains }: Params, call: SkillCall) {
    views.requireView('kernel');
    const { source, all } = await messages(programs, call);
    const wanted = contains?.toLowerCase();
    const found = all.filter(
      (line) =>
        (line.priority ?? 0) <= priority &&
        (wanted === undefined || line.message.toLowerCase().includes(wanted)),
    );
    const kills = Number(
      /^oom_kill (\d+)$/m.exec(files.text('/proc/vmstat', 64 * 1024) ?? '')?.[1],
    );
    const shown = fitRows(found.slice(0, lines));
    const readOn =
      shown.length < found.length
        ? {
            hint: 'There are older messages: request more lines, or filter by priority or text.',
            params: {},
          }
        : undefined;
    return {
      result: {
        source,
        oom_kills_since_boot: Number.isFinite(kills) ? kills : null,
        oom: all
          .filter(({ message }) => outOfMemory.test(message))
          .slice(0, 40)
          .toReversed(),
        messages: shown.toReversed(),
      },
      readOn,
    };
  },
});

/**
 * Messages, newest first. The journal has them with their times, and may be read by more users than
 * the ring of the kernel; either may be missing.
 */
async function messages(
  programs: MachinePrograms,
  call: SkillCall,
): Promise<{ readonly source: string; readonly all: readonly Line[] }> {
  if (programs.find('journalctl') !== undefined) {
    const { entries } = await readJournal(programs, ['--dmesg', '--lines=5000'], call);
    if (entries.length > 0) {
      const all = entries.map(({ at, priority, message }) => ({ at, priority, message }));
      return { source: 'journal', all };
    }
  }
  const { text } = await programs.ask('dmesg', 'kernel_log', {
    args: ['--decode', '--time-format', 'iso', '--nopager'],
    call,
    maxBytes: maxOutput,
  });
  return { source: 'dmesg', all: text.split('\n').flatMap(readLine).toReversed() };
}

/** `kern  :warn  : 2026-11-29T12:25:47,123456+00:00 text`. */
function readLine(line: string): Line[] {
  const [, level, time, message] =
    /^\w+\s*:(\w+)\s*: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\S* (.*)$/.exec(line) ?? [];
  const priority = levels.indexOf(level ?? '');
  return message === undefined
    ? []
    : [
        {
          at: `${time}Z`,
          priority: priority === -1 ? null : priority,
          message: message.slice(0, 2_000),
        },
      ];
}
