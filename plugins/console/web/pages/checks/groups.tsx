import { useList } from '../../client/data.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { Section } from '../../kit/parts.tsx';
import { Mark } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import type { Group } from './check.ts';
import { tones } from './tones.ts';

/** Groups of checks and how long each was up; nothing where no check is in one. */
export function Groups() {
  const groups = useList<Group>('/check-groups', { every: 60_000 });
  if (groups.items?.some(({ group }) => group !== '') !== true) {
    return null;
  }
  return (
    <Section title={text.groups}>
      <Table
        label={text.groups}
        rows={groups.items}
        asked={groups}
        columns={columns}
        keyOf={({ group }) => group}
        empty={null}
      />
    </Section>
  );
}

const columns: readonly Column<Group>[] = [
  {
    head: text.group,
    cell: ({ group, state }) => (
      <span class="status">
        <Mark tone={tones[state]} />
        <span class="cut">{group === '' ? text.noGroup : group}</span>
      </span>
    ),
  },
  { head: text.state, width: '80px', cell: ({ state }) => text[state] },
  {
    head: text.count,
    rank: 1,
    cell: ({ checks, down }) =>
      down.length === 0
        ? checks
        : say(text.downOnes, { number: checks, names: down.slice(0, 5).join(', ') }),
  },
  { head: text.day, width: '90px', numeric: true, cell: ({ uptime }) => shareOf(uptime.day) },
  {
    head: text.month,
    width: '90px',
    numeric: true,
    rank: 1,
    cell: ({ uptime }) => shareOf(uptime.month),
  },
  {
    head: text.year,
    width: '90px',
    numeric: true,
    rank: 2,
    cell: ({ uptime }) => shareOf(uptime.year),
  },
];

/** Rounded down: what was not up all the time is not 100 %. */
export const shareOf = (ratio: number | null | undefined): string =>
  ratio === null || ratio === undefined
    ? '–'
    : say(text.share, { share: (Math.floor(ratio * 100_000) / 1_000).toFixed(3) });
