import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { address, goTo } from '../../browser/location.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { Chart } from '../../kit/chart.tsx';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Awaited, Button, Empty, Fields, Head, Section } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import type { Check, Uptime } from './check.ts';
import { Hours } from './hours.tsx';
import { Places } from './places.tsx';

const daySeconds = 86_400;
const spans = [1, 7, 30, 365] as const;

/** One check: how it is from each place, how long it was up, and when that changed. */
export function CheckDetail({ name }: { readonly name: string }) {
  const path = `/checks/${encodeURIComponent(name)}`;
  const may = useMay()('check:edit');
  const [isLeaving, setLeaving] = useState(false);
  const { value: check, error, reload } = useData<Check>(path, { every: 10_000 });
  const { value: month } = useData<Uptime>(`${path}/uptime`, { query: { days: 30 } });
  if (check === undefined) {
    return <Awaited error={error} lines={8} />;
  }
  const change = (work: () => Promise<unknown>): void => void attempt(work).then(reload);
  const { cause, readings, hours, kind, target, interval_s: every, conditions, paused } = check;
  return (
    <>
      <Head title={name} note={cause ?? target}>
        {may && (
          <>
            <Button icon="play" onClick={() => change(() => api.post(`${path}/run`, {}))}>
              {text.runNow}
            </Button>
            <Button onClick={() => change(() => api.patch(path, { paused: !paused }))}>
              {paused ? text.resume : text.pause}
            </Button>
            <Button icon="trash" onClick={() => setLeaving(true)}>
              {text.remove}
            </Button>
          </>
        )}
      </Head>
      <Fields
        of={[
          [text.state, text[check.state]],
          [text.since, <Time at={check.since} />],
          [text.kind, kind],
          [text.target, target],
          [text.every, say(text.seconds, { number: every })],
          [text.conditions, conditions.join('; ')],
          [text.lastDay, <Hours hours={hours} />],
        ]}
      />
      <Section title={text.byPlace}>
        <Places readings={readings} />
      </Section>
      <Section title={text.uptime}>
        <Fields
          of={spans.map((days) => [
            say(text.uptimeOf, { days }),
            <Share key={days} path={path} days={days} />,
          ])}
        />
      </Section>
      <Chart
        title={text.time}
        queries={[
          {
            expr: `max by (place) (probe_duration_seconds{check=${JSON.stringify(name)}})`,
            name: '{{place}}',
          },
        ]}
        window={{ last: daySeconds }}
        unit="seconds"
      />
      <Section title={text.history}>
        {month?.changes.length === 0 && <Empty title={text.noHistory} />}
        <ul class="list">
          {month?.changes.map(({ at, state, cause: why, places }) => (
            <li key={at}>
              <Time at={at} as="clock" /> {text[state as Check['state']]}{' '}
              <span class="soft">
                {places.length > 0 && `${say(text.failedFrom, { places: places.join(', ') })} `}
                {why}
              </span>
            </li>
          ))}
        </ul>
      </Section>
      {isLeaving && (
        <Dialog title={text.remove} onClose={() => setLeaving(false)}>
          <p>{say(text.removeNote, { name })}</p>
          <div class="buttons">
            <Button
              onClick={() =>
                void attempt(() => api.delete(path), text.removed).then(
                  (done) => done && goTo(address(['checks'])),
                )
              }
            >
              {text.remove}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Share of up in the last so many days. */
function Share({ path, days }: { readonly path: string; readonly days: number }) {
  const { value } = useData<Uptime>(`${path}/uptime`, { query: { days } });
  return (
    <>
      {value?.ratio === undefined || value.ratio === null
        ? '–'
        : `${(value.ratio * 100).toFixed(3)} %`}
    </>
  );
}
