import { useData } from '../../client/data.ts';
import { useParam } from '../../browser/location.ts';
import { clockTime, dayName, monthDay } from '../../text/format.ts';
import { silences as text } from '../../text/english/alerting/silences.ts';
import { say } from '../../text/words.ts';
import { Button, Refused, Skeleton } from '../../kit/parts.tsx';
import { lineOf, type Matcher } from './silence.ts';

interface Entry {
  readonly silence_id: number;
  readonly name: string;
  readonly matchers: readonly Matcher[];
  readonly reason: string;
  readonly is_window: boolean;
  readonly starts_at: string;
  readonly ends_at: string;
}

const weeks = 5;

/** Returns midnight of a day, by the clock of the browser, some days after another. */
const dayAfter = (first: Date, days: number): Date =>
  new Date(first.getFullYear(), first.getMonth(), first.getDate() + days);

/** Returns the Monday of a week. */
const mondayOf = (date: Date): Date => dayAfter(date, -((date.getDay() + 6) % 7));

/** Five weeks of silences, by the clock of the browser. */
export function Calendar({ onPick }: { readonly onPick: (id: number) => void }) {
  const [from, setFrom] = useParam('from');
  const today = dayAfter(new Date(), 0);
  const parsed = /^\d{4}-\d\d-\d\d$/.test(from) ? new Date(`${from}T00:00`) : today;
  const first = mondayOf(Number.isNaN(parsed.getTime()) ? today : parsed);
  const end = dayAfter(first, weeks * 7);
  const { value, error, reload } = useData<{ readonly items: readonly Entry[] }>(
    '/alerts/silences/calendar',
    { query: { from: first.toISOString(), to: end.toISOString() }, kinds: ['incidents', 'rules'] },
  );
  const move = (by: number): void => {
    const next = dayAfter(first, by * 7);
    setFrom(
      next.getTime() === mondayOf(today).getTime()
        ? ''
        : `${next.getFullYear()}-${two(next.getMonth() + 1)}-${two(next.getDate())}`,
    );
  };
  if (error !== undefined && value === undefined) {
    return <Refused error={error} retry={reload} />;
  }
  const days = Array.from({ length: weeks * 7 }, (_, index) => dayAfter(first, index));
  return (
    <>
      <div class="filters">
        <Button onClick={() => move(-weeks)}>{text.earlier}</Button>
        <Button onClick={() => move(weeks)}>{text.later}</Button>
        <span class="soft">
          {say(text.zoneNote, {
            from: monthDay(first.getTime()),
            to: monthDay(dayAfter(end, -1).getTime()),
            zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
          })}
        </span>
      </div>
      {value === undefined ? (
        <Skeleton height={420} />
      ) : (
        <ol class="calendar">
          {days.map((day) => (
            <Day
              key={day.getTime()}
              day={day}
              isToday={day.getTime() === today.getTime()}
              entries={value.items}
              onPick={onPick}
            />
          ))}
        </ol>
      )}
    </>
  );
}

const two = (part: number): string => String(part).padStart(2, '0');
const mostADay = 5;

interface DayProps {
  readonly day: Date;
  readonly isToday: boolean;
  readonly entries: readonly Entry[];
  readonly onPick: (id: number) => void;
}

function Day({ day, isToday, entries, onPick }: DayProps) {
  const begins = day.getTime();
  const ends = dayAfter(day, 1).getTime();
  const own = entries.filter(
    ({ starts_at: from, ends_at: to }) => Date.parse(from) < ends && Date.parse(to) > begins,
  );
  return (
    <li
      class={own.length === 0 ? 'calm-day' : undefined}
      aria-current={isToday ? 'date' : undefined}
    >
      <h2>
        <span class="weekday">{dayName(begins)}</span> {monthDay(begins)}
      </h2>
      {own.slice(0, mostADay).map((entry) => (
        <button
          key={`${entry.silence_id} ${entry.starts_at}`}
          type="button"
          class={entry.is_window ? 'entry window' : 'entry'}
          title={`${entry.matchers.map(lineOf).join(', ')}\n${entry.reason}`}
          onClick={() => onPick(entry.silence_id)}
        >
          <span class="soft">{hoursOf(entry, begins, ends)}</span>{' '}
          {entry.reason || entry.matchers.map(lineOf).join(', ')}
        </button>
      ))}
      {own.length > mostADay && (
        <span class="soft">{say(text.moreADay, { count: own.length - mostADay })}</span>
      )}
    </li>
  );
}

/** Returns the part of an entry that lies in one day. */
function hoursOf({ starts_at: from, ends_at: to }: Entry, begins: number, ends: number): string {
  const start = Math.max(Date.parse(from), begins);
  const end = Math.min(Date.parse(to), ends);
  return start === begins && end === ends
    ? text.allDay
    : `${clockTime(start)}–${end === ends ? '24:00' : clockTime(end)}`;
}
