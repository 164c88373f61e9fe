import { moment } from '../../text/format.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { Mark, type Tone } from '../../kit/status.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import type { Reading } from './check.ts';
import { Phases } from './phases.tsx';

const tones: Readonly<Record<Reading['state'], Tone>> = {
  up: 'ok',
  failing: 'critical',
  offline: 'warning',
};

/** Results of all places, side by side. */
export const Places = ({ readings }: { readonly readings: readonly Reading[] }) => (
  <Table
    label={text.byPlace}
    rows={readings}
    columns={columns}
    keyOf={({ place }) => place}
    empty={null}
  />
);

const columns: readonly Column<Reading>[] = [
  {
    head: text.place,
    cell: ({ place, state, cause, detail }) => (
      <span class="status">
        <Mark tone={tones[state]} />
        <span class="cut" title={cause ?? detail ?? undefined}>
          {place} <span class={state === 'failing' ? 'critical' : 'soft'}>{cause ?? detail}</span>
        </span>
      </span>
    ),
  },
  { head: text.state, width: '100px', cell: ({ state }) => text[state] },
  {
    head: text.time,
    width: '110px',
    numeric: true,
    cell: ({ took_ms: took }) =>
      took === null ? '–' : say(text.milliseconds, { number: Math.round(took) }),
  },
  { head: text.phases, width: '192px', rank: 1, cell: ({ phases }) => <Phases phases={phases} /> },
  { head: text.address, width: '140px', rank: 2, cell: ({ address: at }) => at ?? '–' },
  { head: text.status, width: '70px', numeric: true, rank: 1, cell: ({ status }) => status ?? '–' },
  {
    head: text.validUntil,
    width: '130px',
    rank: 2,
    cell: ({ certificate }) =>
      certificate === null ? '–' : moment(Date.parse(certificate.expires_at), Date.now()),
  },
];
