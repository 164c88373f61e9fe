import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';

import { type AllowedPaths, journalPlace } from '../../reach/allowed-paths.ts';
import type { AllowedViews } from '../../reach/allowed-views.ts';
import type { MachinePrograms } from '../../reach/machine-programs.ts';
import { fitRows } from '../fit-rows.ts';
import { readJournal } from './journal.ts';

const maxOutput = 2 * 1024 * 1024;
const types = ['service', 'timer', 'socket', 'mount', 'path', 'target', 'slice'] as const;
const unitPattern = '^[A-Za-z0-9][A-Za-z0-9@_.:\\\\-]{0,199}$';

/** Properties of a unit that are asked for: its state, why it ended, and what it is made of. */
const shown = [
  'Id',
  'Description',
  'LoadState',
  'ActiveState',
  'SubState',
  'UnitFileState',
  'Result',
  'ExecMainCode',
  'ExecMainStatus',
  'MainPID',
  'NRestarts',
  'Restart',
  'ActiveEnterTimestamp',
  'InactiveEnterTimestamp',
  'StateChangeTimestamp',
  'ConditionResult',
  'MemoryCurrent',
  'TasksCurrent',
  'FragmentPath',
  'DropInPaths',
  'Requires',
  'After',
  'TriggeredBy',
  'NeedDaemonReload',
] as const;
const ofTimers = [
  'Id',
  'Description',
  'ActiveState',
  'Unit',
  'NextElapseUSecRealtime',
  'LastTriggerUSec',
  'Result',
  'Persistent',
] as const;

/** The kinds of end that `ExecMainCode` counts, as waitid(2) does. */
const ends: Readonly<Record<string, string>> = {
  '1': 'exited',
  '2': 'killed',
  '3': 'dumped core',
};

interface ListParams {
  readonly state: 'failed' | 'active' | 'inactive' | 'all';
  readonly type?: (typeof types)[number];
  readonly name?: string;
  readonly limit: number;
}

interface OneParams {
  readonly unit: string;
  readonly lines: number;
}

export const unitsList = (programs: MachinePrograms, views: AllowedViews): EdgeSkill => ({
  key: 'units_list',
  name: 'Systemd units',
  description:
    'Systemd units with their state, failed ones first; timers also show when they last ran and when they will run next.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      state: { enum: ['failed', 'active', 'inactive', 'all'], default: 'all' },
      type: { enum: types, description: 'Default: services.' },
      name: {
        type: 'string',
        pattern: unitPattern,
        description: 'Only units whose name contains this text.',
      },
      limit: { type: 'integer', minimum: 1, maximum: 500, default: 100 },
    },
  },
  async run({ state, type = 'service', name, limit }: ListParams, call: SkillCall) {
    views.requireView('units');
    const ask = async (args: readonly string[]): Promise<string> =>
      (await programs.ask('systemctl', 'units_list', { args, call, maxBytes: maxOutput })).text;
    const text = await ask([
      'list-units',
      '--all',
      '--plain',
      '--full',
      '--no-legend',
      '--no-pager',
      `--type=${type}`,
      ...(state === 'all' ? [] : [`--state=${state}`]),
    ]);
    const found = text
      .split('\n')
      .flatMap(readUnit)
      .filter((unit) => name === undefined || unit.unit.includes(name))
      .sort((a, b) => Number(b.active === 'failed') - Number(a.active === 'failed'));
    const times =
      type === 'timer'
        ? blocksOf(await ask(['show', '--no-pager', `--property=${ofTimers.join(',')}`, '*.timer']))
        : [];
    const rows = fitRows(
      found.slice(0, limit).map((unit) => {
        const timer = times.find((block) => block.get('Id') === unit.unit);
        return timer === undefined
          ? unit
          : {
              ...unit,
              runs: timer.get('Unit') ?? null,
              last_run: timeIn(timer, 'LastTriggerUSec'),
              next_run: timeIn(timer, 'NextElapseUSecRealtime'),
            };
      }),
    );
    const readOn =
      rows.length < found.length
        ? {
            hint: 'There are more units: filter by state or by part of the name.',
            params: {},
          }
        : undefined;
    return { result: { total: found.length, units: rows }, readOn };
  },
});

export const unitGet = (
  programs: MachinePrograms,
  views: AllowedViews,
  paths: AllowedPaths,
): EdgeSkill => ({
  key: 'unit_get',
  name: 'One systemd unit',
  description:
    'State of one systemd unit: since when it has been active or inactive, why it ended (exit code or signal), how often it has been restarted, its dependencies, and its last journal lines.',
  class: 'safe',
  tier: 'core',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['unit'],
    properties: {
      unit: {
        type: 'string',
        pattern: unitPattern,
        description: 'Name of the unit; .service may be omitted.',
      },
      lines: { type: 'integer', minimum: 0, maximum: 200, default: 30 },
    },
  },
  async run({ unit: asked, lines }: OneParams, call: SkillCall) {
    views.requireView('units');
    const unit = /\.[a-z]+$/.test(asked) ? asked : `${asked}.service`;
    const { text } = await programs.ask('systemctl', 'unit_get', {
      args: ['show', '--no-pager', `--property=${shown.join(',')}`, '--', unit],
      call,
      maxBytes: maxOutput,
    });
    const state = blocksOf(text)[0] ?? new Map<string, string>();
    const log = await lastLines(unit, lines, { programs, paths, call });
    return {
      result: { unit, exists: state.get('LoadState') !== 'not-found', ...told(state), ...log },
    };
  },
});

/** The journal is the owner's to show: where it may not be read, the state is told all the same. */
async function lastLines(
  unit: string,
  lines: number,
  {
    programs,
    paths,
    call,
  }: { readonly programs: MachinePrograms; readonly paths: AllowedPaths; readonly call: SkillCall },
): Promise<object> {
  if (lines === 0) {
    return {};
  }
  if (!paths.allows(journalPlace)) {
    return { log: null, log_note: 'the policy of this machine does not allow reading its journal' };
  }
  if (programs.find('journalctl') === undefined) {
    return { log: null, log_note: 'this machine has no journalctl' };
  }
  const { entries } = await readJournal(programs, [`--lines=${lines}`, `--unit=${unit}`], call);
  const newestFirst = fitRows(
    entries.map(({ at, priority, message }) => ({ at, priority, message })),
  );
  return { log: newestFirst.toReversed() };
}

function told(state: ReadonlyMap<string, string>): object {
  const text = (name: string): string | null => state.get(name) || null;
  const number = (name: string): number | null =>
    /^\d{1,15}$/.test(state.get(name) ?? '') ? Number(state.get(name)) : null;
  const list = (name: string): readonly string[] =>
    (state.get(name) ?? '').split(' ').filter(Boolean);
  return {
    description: text('Description'),
    load_state: text('LoadState'),
    active_state: text('ActiveState'),
    sub_state: text('SubState'),
    enabled: text('UnitFileState'),
    result: text('Result'),
    ended_by: ends[state.get('ExecMainCode') ?? ''] ?? null,
    exit_status: number('ExecMainStatus'),
    main_pid: number('MainPID') || null,
    restarts: number('NRestarts'),
    restart_policy: text('Restart'),
    active_since: timeIn(state, 'ActiveEnterTimestamp'),
    inactive_since: timeIn(state, 'InactiveEnterTimestamp'),
    changed_at: timeIn(state, 'StateChangeTimestamp'),
    condition_met: text('ConditionResult'),
    memory_bytes: number('MemoryCurrent'),
    tasks: number('TasksCurrent'),
    file: text('FragmentPath'),
    drop_ins: list('DropInPaths'),
    requires: list('Requires'),
    after: list('After').slice(0, 40),
    triggered_by: list('TriggeredBy'),
    file_changed_since_load: state.get('NeedDaemonReload') === 'yes',
  };
}

/** A time as systemd prints it in UTC, as RFC 3339; null where it never was. */
function timeIn(state: ReadonlyMap<string, string>, name: string): string | null {
  const [, day, time] =
    /^\w{3} (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC$/.exec(state.get(name) ?? '') ?? [];
  return day === undefined ? null : `${day}T${time}Z`;
}

/** Blocks of `systemctl show`, one for each unit, parted by an empty line. */
const blocksOf = (text: string): readonly ReadonlyMap<string, string>[] =>
  text
    .split(/\n\n+/)
    .filter((block) => block.trim() !== '')
    .map(
      (block) =>
        new Map(
          block
            .split('\n')
            .map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)] as const),
        ),
    );

function readUnit(line: string) {
  const [, unit, load, active, sub, description] =
    /^\W*(\S+\.\w+)\s+(\S+)\s+(\S+)\s+(\S+)\s*(.*)$/.exec(line) ?? [];
  return unit === undefined
    ? []
    : [{ unit, load: load!, active: active!, sub: sub!, description: description! }];
}
