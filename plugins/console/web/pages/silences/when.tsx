import { silences as text } from '../../text/english/alerting/silences.ts';
import { CheckField, Segments, SelectField, TextField } from '../../kit/form.tsx';
import { type Silence, type Weekday, weekdays } from './silence.ts';

export const durations = ['30m', '1h', '2h', '4h', '12h', '24h', '72h', '168h'] as const;

/** When a silence mutes, as it is being filled in; times are those of the browser. */
export interface When {
  readonly kind: 'now' | 'once' | 'window';
  readonly duration: string;
  readonly starts: string;
  readonly ends: string;
  readonly days: readonly Weekday[];
  readonly start: string;
  readonly length: string;
  readonly zone: string;
}

const hourMs = 3_600_000;

/** Formats a time as a field of the browser takes it. */
function local(at: number): string {
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export const firstWhen = (now: number): When => ({
  kind: 'now',
  duration: '2h',
  starts: local(now + hourMs),
  ends: local(now + 3 * hourMs),
  days: ['sat', 'sun'],
  start: '02:00',
  length: '2h',
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** Returns the choice that a silence was made by. */
export function whenOf({ starts_at: starts, ends_at: ends, recurrence }: Silence): When {
  const first = firstWhen(Date.parse(starts));
  const times = { starts: local(Date.parse(starts)), ends: local(Date.parse(ends)) };
  return recurrence === undefined
    ? { ...first, ...times, kind: 'once' }
    : {
        ...first,
        ...times,
        kind: 'window',
        days: recurrence.days.length === 0 ? weekdays : recurrence.days,
        start: recurrence.start,
        length: shortened(recurrence.duration),
        zone: recurrence.time_zone,
      };
}

/** `7200s` → `2h`. */
function shortened(duration: string): string {
  const [, seconds] = /^(\d+)s$/.exec(duration) ?? [];
  const whole = Number(seconds);
  return seconds === undefined || whole % 60 !== 0
    ? duration
    : whole % 3_600 === 0
      ? `${whole / 3_600}h`
      : `${whole / 60}m`;
}

const instant = (field: string): string | undefined =>
  Number.isNaN(Date.parse(field)) ? undefined : new Date(field).toISOString();

/** Returns the fields of the request. */
export function requestOf({
  kind,
  duration,
  starts,
  ends,
  days,
  start,
  length,
  zone,
}: When): object {
  switch (kind) {
    case 'now':
      return { duration };
    case 'once':
      return { starts_at: instant(starts), ends_at: instant(ends) };
    case 'window':
      return {
        ends_at: instant(ends),
        recurrence: {
          days: days.length === weekdays.length ? [] : days,
          start,
          duration: length,
          time_zone: zone,
        },
      };
  }
}

interface WhenProps {
  readonly value: When;
  readonly onChange: (value: When) => void;
  /** A silence that exists goes on; it cannot begin now again. */
  readonly exists: boolean;
}

export function WhenFields({ value, onChange, exists }: WhenProps) {
  const set = (changes: Partial<When>): void => onChange({ ...value, ...changes });
  return (
    <>
      <Segments
        label={text.when}
        value={value.kind}
        options={[
          ...(exists ? [] : [['now', text.fromNow] as const]),
          ['once', text.once] as const,
          ['window', text.window] as const,
        ]}
        onChange={(kind) =>
          set({
            kind,
            // A window that is over in three hours would be none.
            ...(kind === 'window' &&
              value.kind !== 'window' && { ends: local(Date.now() + 180 * 24 * hourMs) }),
          })
        }
      />
      {value.kind === 'now' && (
        <SelectField
          label={text.duration}
          value={value.duration}
          options={durations.map((one) => [one, one] as const)}
          onChange={(duration) => set({ duration })}
        />
      )}
      {value.kind === 'once' && (
        <div class="condition-row">
          <TextField
            label={text.starts}
            type="datetime-local"
            value={value.starts}
            onInput={(starts) => set({ starts })}
          />
          <TextField
            label={text.ends}
            type="datetime-local"
            value={value.ends}
            onInput={(ends) => set({ ends })}
          />
        </div>
      )}
      {value.kind === 'window' && <WindowFields value={value} set={set} />}
    </>
  );
}

function WindowFields({
  value,
  set,
}: {
  readonly value: When;
  readonly set: (changes: Partial<When>) => void;
}) {
  return (
    <>
      <fieldset class="checks weekdays">
        <legend>{text.days}</legend>
        {weekdays.map((day) => (
          <CheckField
            key={day}
            label={text[day]}
            value={value.days.includes(day)}
            onChange={(isChosen) =>
              set({
                days: weekdays.filter((one) => (one === day ? isChosen : value.days.includes(one))),
              })
            }
          />
        ))}
      </fieldset>
      <div class="condition-row">
        <TextField
          label={text.start}
          type="time"
          value={value.start}
          onInput={(start) => set({ start })}
        />
        <TextField
          label={text.length}
          value={value.length}
          onInput={(length) => set({ length })}
          hint={text.lengthHint}
        />
        <TextField
          label={text.zone}
          value={value.zone}
          onInput={(zone) => set({ zone })}
          list={Intl.supportedValuesOf('timeZone')}
        />
        <TextField
          label={text.lastDay}
          type="datetime-local"
          value={value.ends}
          onInput={(ends) => set({ ends })}
        />
      </div>
    </>
  );
}
