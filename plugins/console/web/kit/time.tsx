import { useEffect } from 'preact/hooks';

import { duration, fullMoment, moment, utcMoment } from '../text/format.ts';
import { Store, useStore } from '../browser/store.ts';
import { time as text } from '../text/english/kit.ts';
import { say } from '../text/words.ts';

/** One clock for all times on the page. */
const now = new Store(Date.now());
let ticking: ReturnType<typeof setInterval> | undefined;
let readers = 0;

export function useNow(): number {
  useEffect(() => {
    readers += 1;
    ticking ??= setInterval(() => now.set(Date.now()), 5_000);
    return () => {
      readers -= 1;
      if (readers === 0) {
        clearInterval(ticking);
        ticking = undefined;
      }
    };
  }, []);
  return useStore(now);
}

/** Relative or absolute time in the user's time zone, with the full date and UTC on hover. */
export function Time({
  at,
  as = 'ago',
}: {
  readonly at: string | number | null | undefined;
  readonly as?: 'ago' | 'clock';
}) {
  const present = useNow();
  if (at === null || at === undefined) {
    return <span class="faint">{text.never}</span>;
  }
  const instant = typeof at === 'number' ? at : Date.parse(at);
  const shown = as === 'clock' ? moment(instant, present) : ago(instant, present);
  return (
    <time
      dateTime={new Date(instant).toISOString()}
      title={`${fullMoment(instant)}\n${utcMoment(instant)}`}
    >
      {shown}
    </time>
  );
}

export function ago(instant: number, present: number): string {
  const seconds = Math.round((present - instant) / 1000);
  if (Math.abs(seconds) < 5) {
    return text.now;
  }
  const span = duration(Math.abs(seconds)).split(' ').slice(0, 2).join(' ');
  return say(seconds > 0 ? text.ago : text.ahead, { span });
}
