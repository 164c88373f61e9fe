import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';

import { type AllowedPaths, journalPlace } from '../../reach/allowed-paths.ts';
import type { MachinePrograms } from '../../reach/machine-programs.ts';
import { errors as edgeSkillsErrors } from '../errors.ts';
import { fitRows, plainText } from '../fit-rows.ts';

interface Params {
  readonly unit?: string;
  readonly priority: number;
  readonly since?: string;
  readonly until?: string;
  readonly lines: number;
  readonly boot: boolean;
}

const instant = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?Z$',
};
const maxOutput = 4 * 1024 * 1024;
const longestMessage = 4_096;

export const journal = (programs: MachinePrograms, paths: AllowedPaths): EdgeSkill => ({
  key: 'journal',
  name: 'Journal',
  description:
    'The latest entries of the systemd journal, oldest first; optionally only for one unit, from a given priority up, or within a time range.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      unit: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9@_.:-]{0,199}$' },
      priority: {
        type: 'integer',
        minimum: 0,
        maximum: 7,
        default: 7,
        description: 'Least severe syslog priority to include: 3 for errors and worse.',
      },
      since: { ...instant, description: 'RFC 3339, UTC.' },
      until: { ...instant, description: 'RFC 3339, UTC.' },
      lines: { type: 'integer', minimum: 1, maximum: 2000, default: 100 },
      boot: {
        type: 'boolean',
        default: false,
        description: 'Only entries since the machine last booted.',
      },
    },
  },
  async run(params: Params, { signal, timeoutMs }: SkillCall) {
    if (!paths.allows(journalPlace)) {
      throw edgeSkillsErrors.journal_not_allowed();
    }
    const { entries, cut } = await readJournal(programs, argumentsOf(params), {
      signal,
      timeoutMs,
    });
    const shown = fitRows(entries);
    const oldest = shown.at(-1);
    const readOn =
      cut || shown.length < entries.length || entries.length >= params.lines
        ? {
            hint: 'There may be older entries. If you continue from this timestamp, entries that share it are returned again.',
            params: oldest ? { until: oldest.at } : { lines: 1 },
          }
        : undefined;
    return { result: { entries: shown.toReversed() }, readOn };
  },
});

/** Returns the entries that the arguments select, newest first. */
export async function readJournal(
  programs: MachinePrograms,
  args: readonly string[],
  { signal, timeoutMs }: Pick<SkillCall, 'signal' | 'timeoutMs'>,
): Promise<{ readonly entries: readonly Entry[]; readonly cut: boolean }> {
  const journalctl = programs.find('journalctl');
  if (journalctl === undefined) {
    throw edgeSkillsErrors.no_journalctl();
  }
  const { code, output, errors, cut } = await programs.run(
    journalctl,
    ['--reverse', '--all', '--output=json', '--quiet', '--no-pager', ...args],
    { timeoutMs, maxBytes: maxOutput, signal },
  );
  if (cut === 'time' || (code !== 0 && cut === undefined)) {
    throw edgeSkillsErrors.journalctl_failed({
      detail:
        cut === 'time'
          ? 'took too long'
          : `failed with code ${code}: ${plainText(errors).slice(0, 500)}`,
    });
  }
  // Newest first, as it prints them: the truncated one is the oldest.
  const entries = Buffer.from(output).toString('utf8').split('\n').flatMap(readEntry);
  return { entries, cut: cut !== undefined };
}

function argumentsOf({ unit, priority, since, until, lines, boot }: Params): string[] {
  return [
    `--lines=${lines}`,
    `--priority=${priority}`,
    ...(unit === undefined ? [] : [`--unit=${unit}`]),
    ...(since === undefined ? [] : [`--since=@${secondsOf(since)}`]),
    ...(until === undefined ? [] : [`--until=@${secondsOf(until)}`]),
    ...(boot ? ['--boot'] : []),
  ];
}

/** Parses a time with all six digits, which a Date cannot hold. */
function secondsOf(text: string): string {
  const [whole, fraction = ''] = text.slice(0, -1).split('.');
  const ms = Date.parse(`${whole}Z`);
  if (!Number.isFinite(ms)) {
    throw edgeSkillsErrors.time_form({ text });
  }
  return `${ms / 1_000}.${fraction.padEnd(6, '0')}`;
}

/** An entry of the journal. */
export interface Entry {
  readonly at: string;
  readonly unit: string | null;
  readonly identifier: string | null;
  readonly priority: number | null;
  readonly pid: number | null;
  readonly message: string;
}

/** Parses an entry; any program may write any field, so none is trusted. */
function readEntry(line: string): Entry[] {
  const fields = new Map(Object.entries(parsed(line)));
  const text = (name: string): string | null => {
    const value: unknown = fields.get(name);
    const first: unknown = Array.isArray(value) && typeof value[0] === 'string' ? value[0] : value;
    return typeof first === 'string' ? plainText(first.slice(0, longestMessage)) : null;
  };
  const number = (name: string): number | null =>
    /^\d{1,10}$/.test(text(name) ?? '') ? Number(text(name)) : null;
  const micros = text('__REALTIME_TIMESTAMP') ?? '';
  const bytes = fields.get('MESSAGE');
  const message =
    text('MESSAGE') ??
    (Array.isArray(bytes)
      ? plainText(Buffer.from((bytes as number[]).slice(0, longestMessage)).toString('utf8'))
      : undefined);
  if (!/^\d{10,16}$/.test(micros) || message === undefined) {
    return [];
  }
  const second = new Date(Number(micros.slice(0, -6)) * 1_000).toISOString().slice(0, 19);
  return [
    {
      at: `${second}.${micros.slice(-6)}Z`,
      unit: text('_SYSTEMD_UNIT'),
      identifier: text('SYSLOG_IDENTIFIER'),
      priority: number('PRIORITY'),
      pid: number('_PID'),
      message,
    },
  ];
}

function parsed(line: string): object {
  try {
    const value: unknown = line === '' ? {} : JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // The last line, cut off with the output.
    return {};
  }
}
