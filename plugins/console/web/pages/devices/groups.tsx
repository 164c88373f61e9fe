import { useState } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { address, useParam } from '../../browser/location.ts';
import { devices as text } from '../../text/english/watch/devices.ts';
import { Segments } from '../../kit/form.tsx';
import { Empty } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';

interface Group {
  readonly name: string;
  readonly devices: number;
  readonly offline: number;
  readonly critical: number;
  readonly warning: number;
}

/** The devices of a search by role, system, version or tag, with the health of each group. */
export function Groups({ search }: { readonly search: string }) {
  const [by, setBy] = useParam('by', 'role');
  const [tag, setTag] = useState(by.startsWith('tag:') ? by.slice(4) : '');
  const asked = useData<{ readonly groups: readonly Group[] }>('/devices/groups', {
    query: { search, by },
    kinds: ['devices', 'edges'],
    every: 15_000,
  });
  return (
    <>
      <div class="filters">
        <Segments
          label={text.by}
          value={by.startsWith('tag:') ? '' : by}
          onChange={setBy}
          options={[
            ['role', text.role],
            ['os', text.system],
            ['version', text.version],
            ['status', text.status],
          ]}
        />
        <input
          type="search"
          aria-label={text.tag}
          placeholder={text.tag}
          value={tag}
          onInput={(event) => {
            const key = event.currentTarget.value.trim();
            setTag(key);
            setBy(/^[A-Za-z0-9][\w./-]{0,62}$/.test(key) ? `tag:${key}` : 'role');
          }}
        />
      </div>
      <Table
        label={text.groups}
        rows={asked.value?.groups}
        asked={asked}
        keyOf={({ name }) => name}
        hrefOf={({ name }) => address(['devices'], { q: searchOf(search, by, name) })}
        columns={columns}
        empty={<Empty title={text.none} />}
      />
    </>
  );
}

/** The search that finds the devices of one group. */
function searchOf(search: string, by: string, name: string): string {
  const quoted = /^[\w.:/-]+$/.test(name) ? name : `"${name.replaceAll(/["\\]/g, '\\$&')}"`;
  const term =
    name === '' ? '' : by.startsWith('tag:') ? `${by.slice(4)}=${quoted}` : `${by}:${quoted}`;
  return `${search} ${term}`.trim();
}

const columns: readonly Column<Group>[] = [
  { head: text.group, cell: ({ name }) => <span class="cut">{name || text.noGroup}</span> },
  { head: text.count, width: '90px', numeric: true, cell: ({ devices }) => devices },
  {
    head: text.critical,
    width: '90px',
    numeric: true,
    cell: ({ critical }) => critical > 0 && <span class="critical">{critical}</span>,
  },
  {
    head: text.warning,
    width: '90px',
    numeric: true,
    cell: ({ warning }) => warning > 0 && <span class="warning">{warning}</span>,
  },
  {
    head: text.offline,
    width: '90px',
    numeric: true,
    rank: 2,
    cell: ({ offline }) => offline > 0 && <span class="soft">{offline}</span>,
  },
];
