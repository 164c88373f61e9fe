import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { below } from '../../browser/base.ts';
import { address, goTo } from '../../browser/location.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { Chart } from '../../kit/chart/chart.tsx';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Awaited, Button, Empty, Fields, Head, Section } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import type { Check, Uptime } from './check.ts';
import { EditCheck } from './check-form.tsx';
import { shareOf } from './groups.tsx';
import { Hours } from './hours.tsx';
import { Picture } from './picture.tsx';
import { Places } from './places.tsx';
import { Steps } from './steps.tsx';

const daySeconds = 86_400;
const spans = [1, 7, 30, 365] as const;

/** One check: how it is from each place, how long it was up, and when that changed. */
export function CheckDetail({ name }: { readonly name: string }) {
  const path = `/checks/${encodeURIComponent(name)}`;
  const { value: check, error, reload } = useData<Check>(path, { every: 10_000 });
  if (check === undefined) {
    return <Awaited error={error} lines={8} />;
  }
  return (
    <>
      <Actions check={check} path={path} reload={reload} />
      <Fields
        of={[
          [text.state, text[check.state]],
          [text.since, <Time at={check.since} />],
          ...(check.muted === null
            ? []
            : [
                [
                  text.muted,
                  <>
                    {say(text[`mutedBy_${check.muted.kind}`], { name: check.muted.name })}{' '}
                    <Time at={check.muted.since} />
                  </>,
                ] as const,
              ]),
          ...(check.depends_on.length === 0
            ? []
            : [[text.dependsOn, check.depends_on.join(', ')] as const]),
          [text.kind, check.kind],
          [text.target, check.target],
          [text.every, say(text.seconds, { number: check.interval_s })],
          [text.conditions, check.conditions.join('; ')],
          [text.username, loginOf(check)],
          [text.proxy, check.proxy],
          [text.group, check.group === '' ? text.noGroup : check.group],
          [text.badge, <Badge name={name} isPublic={check.badge} />],
          [text.lastDay, <Hours hours={check.hours} />],
        ]}
      />
      {check.readings.length > 0 && (
        <Section title={text.byPlace}>
          <Places readings={check.readings} />
        </Section>
      )}
      {check.readings
        .filter(({ steps }) => steps.length > 0)
        .map(({ place, steps }) => (
          <Steps key={place} place={place} steps={steps} />
        ))}
      {check.picture !== null && <Picture path={path} {...check.picture} />}
      <Section title={text.uptime}>
        <Fields
          of={spans.map((days) => [
            days === 1 ? text.day : say(text.uptimeOf, { days }),
            <Share key={days} path={path} days={days} />,
          ])}
        />
      </Section>
      <Charts check={check} />
      <History path={path} />
    </>
  );
}

/** Response times of a day, and certificates of a month. */
function Charts({ check: { name, readings } }: { readonly check: Check }) {
  return (
    <>
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
      {readings.some(({ certificate }) => certificate !== null) && (
        <Chart
          title={text.certificates}
          queries={[
            {
              expr: `(min by (place) (last_over_time(probe_ssl_earliest_cert_expiry{check=${JSON.stringify(name)}}[6h])) - time()) / ${daySeconds}`,
              name: '{{place}}',
            },
          ]}
          window={{ last: 30 * daySeconds }}
        />
      )}
    </>
  );
}

interface ActionsProps {
  readonly check: Check;
  readonly path: string;
  readonly reload: () => void;
}

/** Head of the page, with what can be done with the check. */
function Actions({ check, path, reload }: ActionsProps) {
  const may = useMay()('check:edit');
  const [isLeaving, setLeaving] = useState(false);
  const [isEdited, setEdited] = useState(false);
  const { name, paused, badge, cause, target } = check;
  const change = (work: () => Promise<unknown>): void => void attempt(work).then(reload);
  const remove = (): void =>
    void attempt(() => api.delete(path), text.removed).then(
      (done) => done && goTo(address(['checks'])),
    );
  return (
    <>
      <Head title={name} note={cause ?? target}>
        {may && (
          <>
            <Button icon="play" onClick={() => change(() => api.post(`${path}/run`, {}))}>
              {text.runNow}
            </Button>
            <Button onClick={() => setEdited(true)}>{text.edit}</Button>
            <Button onClick={() => change(() => api.patch(path, { paused: !paused }))}>
              {paused ? text.resume : text.pause}
            </Button>
            <Button onClick={() => change(() => api.patch(path, { badge: !badge }))}>
              {badge ? text.hideBadge : text.showBadge}
            </Button>
            <Button icon="trash" onClick={() => setLeaving(true)}>
              {text.remove}
            </Button>
          </>
        )}
      </Head>
      {isEdited && <EditCheck check={check} onClose={() => setEdited(false)} onDone={reload} />}
      {isLeaving && (
        <Dialog title={text.remove} onClose={() => setLeaving(false)}>
          <p>{say(text.removeNote, { name })}</p>
          <div class="buttons">
            <Button onClick={remove}>{text.remove}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Name of who logs in; a password is never shown, only whether there is one. */
const loginOf = ({ username, has_password: hasPassword }: Check) =>
  username === undefined
    ? hasPassword
      ? text.onlyPassword
      : undefined
    : hasPassword
      ? say(text.withPassword, { user: username })
      : username;

/** Address of the badge, which anybody may see. */
function Badge({ name, isPublic }: { readonly name: string; readonly isPublic: boolean }) {
  const path = below(`/badges/checks/${encodeURIComponent(name)}`);
  return isPublic ? (
    <a href={path}>{new URL(path, window.location.href).href}</a>
  ) : (
    <>{text.badgeOff}</>
  );
}

/** Changes of the verdict in the last 30 days, newest first. */
function History({ path }: { readonly path: string }) {
  const { value } = useData<Uptime>(`${path}/uptime`, { query: { days: 30 } });
  return (
    <Section title={text.history}>
      {value?.changes.length === 0 && <Empty title={text.noHistory} />}
      <ul class="list tall">
        {value?.changes.map(({ at, state, cause, places }) => (
          <li key={at}>
            <Time at={at} as="clock" /> {text[state as Check['state']]}{' '}
            <span class="soft">
              {places.length > 0 && `${say(text.failedFrom, { places: places.join(', ') })} `}
              {cause}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Share of up in the last so many days. */
function Share({ path, days }: { readonly path: string; readonly days: number }) {
  const { value } = useData<Uptime>(`${path}/uptime`, { query: { days } });
  return <>{shareOf(value?.ratio)}</>;
}
