import { useState } from 'preact/hooks';

import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { address, usePlace } from '../../browser/location.ts';
import { moment } from '../../text/format.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { Button, Empty, Head } from '../../kit/parts.tsx';
import { Mark } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import type { Check, Reading } from './check.ts';
import { CheckDetail } from './detail.tsx';
import { Groups } from './groups.tsx';
import { Hours } from './hours.tsx';
import { NewCheck } from './check-form.tsx';
import { Objectives } from './objectives.tsx';
import { Proposals } from './proposals.tsx';
import { tones } from './tones.ts';

/** Addresses that are watched, or one of them. */
export default function Checks() {
  const { parts } = usePlace();
  return parts[1] === undefined ? <CheckList /> : <CheckDetail name={parts[1]} />;
}

function CheckList() {
  const may = useMay()('check:edit');
  const [isNew, setNew] = useState(false);
  const checks = useList<Check>('/checks', { every: 10_000 });
  const add = may && (
    <Button icon="plus" onClick={() => setNew(true)}>
      {text.add}
    </Button>
  );
  return (
    <>
      <Head title={text.title} note={text.note}>
        {add}
      </Head>
      <Table
        label={text.title}
        rows={checks.items}
        asked={checks}
        columns={columns}
        keyOf={({ name }) => name}
        hrefOf={({ name }) => address(['checks', name])}
        empty={<Empty title={text.empty}>{text.emptyNote}</Empty>}
        {...(checks.more !== undefined && { more: checks.more })}
      />
      <Proposals onTaken={checks.reload} />
      <Groups />
      <Objectives checks={checks.items ?? []} />
      {isNew && <NewCheck onClose={() => setNew(false)} onDone={checks.reload} />}
    </>
  );
}

const columns: readonly Column<Check>[] = [
  {
    head: text.name,
    cell: ({ name, target, state, cause, muted }) => (
      <span class="status">
        <Mark tone={tones[state]} />
        <span class="cut" title={cause ?? undefined}>
          {name}{' '}
          <span class={state === 'down' && muted === null ? 'critical' : 'soft'}>
            {muted === null ? (cause ?? target) : say(text.mutedBy, { name: muted.name })}
          </span>
        </span>
      </span>
    ),
  },
  { head: text.state, width: '80px', cell: ({ state }) => text[state] },
  { head: text.lastDay, width: '210px', rank: 1, cell: ({ hours }) => <Hours hours={hours} /> },
  {
    head: text.time,
    width: '110px',
    numeric: true,
    rank: 1,
    cell: ({ readings }) => slowest(readings),
  },
  {
    head: text.validUntil,
    width: '130px',
    rank: 2,
    cell: ({ readings }) => firstExpiry(readings),
  },
];

const slowest = (readings: readonly Reading[]): string => {
  const times = readings.flatMap(({ took_ms: took }) => (took === null ? [] : [took]));
  return times.length === 0
    ? '–'
    : say(text.milliseconds, { number: Math.round(Math.max(...times)) });
};

const firstExpiry = (readings: readonly Reading[]): string => {
  const times = readings
    .flatMap(({ certificate, domain_expires_at: domain }) => [certificate?.expires_at, domain])
    .flatMap((at) => (typeof at === 'string' ? [Date.parse(at)] : []));
  return times.length === 0 ? '–' : moment(Math.min(...times), Date.now());
};
