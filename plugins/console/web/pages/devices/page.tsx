import { useState } from 'preact/hooks';

import { useList } from '../../client/data.ts';
import { address, useParam, usePlace } from '../../browser/location.ts';
import { useMay } from '../../client/additions.ts';
import { devices as text } from '../../text/english/watch/devices.ts';
import { count } from '../../text/words.ts';
import { Segments } from '../../kit/form.tsx';
import { Button, Empty, Fields, Head, Tabs } from '../../kit/parts.tsx';
import { Tag } from '../../kit/status.tsx';
import { Table } from '../../kit/table.tsx';
import { AddHost } from '../overview/checklist.tsx';
import { BulkActions } from './bulk.tsx';
import { ColumnChoice, useColumns } from './columns.tsx';
import { DevicePage } from './device.tsx';
import { Fleet } from './fleet.tsx';
import type { FoundDevice } from './found.ts';
import { Groups } from './groups.tsx';
import { Honeycomb } from './honeycomb.tsx';
import { SavedViews } from './saved-views.tsx';

/** `/ui/devices`, `/ui/devices/agents` for what watches them, and `/ui/devices/<id>/<part>` for one. */
export default function Devices() {
  const { parts } = usePlace();
  const may = useMay();
  const shows = parts[1] ?? 'list';
  if (shows !== 'list' && shows !== 'agents') {
    return <DevicePage key={shows} id={shows} part={parts[2] ?? 'overview'} />;
  }
  return (
    <>
      <Head title={text.title}>{may('edge:enrol') && <AddHost label={text.add} />}</Head>
      <Tabs
        active={shows}
        tabs={[
          { id: 'list', title: text.title, href: address(['devices']) },
          { id: 'agents', title: text.agents, href: address(['devices', 'agents']) },
        ]}
      />
      {shows === 'agents' ? <Fleet /> : <List />}
    </>
  );
}

const views = { list: text.list, groups: text.groups, map: text.map } as const;
type View = keyof typeof views;

/** The devices that a search finds, as a list, in groups or as a map. */
function List() {
  const [q, setQ] = useParam('q');
  const [view, setView] = useParam('view', 'list');
  // Links of roles and tags from other pages are searches, too.
  const [role] = useParam('role');
  const [tag] = useParam('tag');
  const search = [q, role && `role:${role}`, tag && (tag.includes('=') ? tag : `tag:${tag}`)]
    .filter(Boolean)
    .join(' ');
  return (
    <>
      <div class="filters">
        <input
          type="search"
          class="search-wide"
          aria-label={text.search}
          placeholder={text.search}
          value={q}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
        <Segments
          label={text.view}
          value={view as View}
          onChange={setView}
          options={(Object.keys(views) as View[]).map((one) => [one, views[one]])}
        />
        {[role, tag].filter(Boolean).map((one) => (
          <Tag key={one} tone="info">
            {one}
          </Tag>
        ))}
      </div>
      <SavedViews />
      <div class="further-row">
        <Help />
        {view === 'list' && <ColumnChoice />}
      </div>
      {view === 'groups' ? (
        <Groups search={search} />
      ) : view === 'map' ? (
        <Honeycomb search={search} />
      ) : (
        <Found search={search} />
      )}
    </>
  );
}

/** Examples of what can be written into the search. */
const Help = () => (
  <details class="further">
    <summary>{text.help}</summary>
    <p class="soft">{text.helpLine}</p>
    <Fields
      of={[
        [text.textExample, text.helpText],
        [text.fieldExample, text.helpField],
        [text.tagExample, text.helpTag],
        [text.figureExample, text.helpFigure],
        [text.incidentExample, text.helpIncident],
      ]}
    />
  </details>
);

function Found({ search }: { readonly search: string }) {
  const [sort, setSort] = useParam('sort', 'name');
  const columns = useColumns();
  const [chosen, setChosen] = useState<ReadonlySet<string | number>>(new Set());
  const may = useMay();
  const list = useList<FoundDevice>('/devices/search', {
    query: { search, sort },
    kinds: ['devices', 'edges'],
    every: 15_000,
  });
  const mayChange = ['device:update', 'device:delete', 'edge:rotate', 'alert:silence'].some(may);
  const picked = list.items?.filter(({ id }) => chosen.has(id)) ?? [];
  return (
    <>
      {picked.length > 0 && (
        <div class="bulk" role="group" aria-label={count(text.chosen, picked.length)}>
          <b>{count(text.chosen, picked.length)}</b>
          <BulkActions
            devices={picked}
            onDone={() => {
              setChosen(new Set());
              list.reload();
            }}
          />
          <Button kind="quiet" onClick={() => setChosen(new Set())}>
            {text.clear}
          </Button>
        </div>
      )}
      <div class="wide-rows">
        <Table
          label={text.title}
          rows={list.items}
          asked={list}
          total={list.total}
          more={list.more}
          columns={columns}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => address(['devices', id])}
          sorted={sort}
          onSort={setSort}
          choice={
            mayChange
              ? { chosen, onChoose: setChosen, nameOf: ({ display_name: name }) => name }
              : undefined
          }
          empty={
            search === '' ? (
              <Empty title={text.empty}>{text.emptyNote}</Empty>
            ) : (
              <Empty title={text.none} />
            )
          }
        />
      </div>
    </>
  );
}
