import { moment } from '../../text/format.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { useNow } from '../../kit/time.tsx';

const [width, height, gap] = [6, 18, 2];
const hourMs = 3_600_000;

/** The last 24 hours as bars: the fuller, the longer it was up; empty where nothing was measured. */
export function Hours({ hours }: { readonly hours: readonly (number | null)[] }) {
  const now = useNow();
  const first = Math.floor(now / hourMs) * hourMs - (hours.length - 1) * hourMs;
  return (
    <svg width={hours.length * (width + gap)} height={height} role="img" aria-label={text.lastDay}>
      {hours.map((share, hour) => (
        <rect
          key={hour}
          x={hour * (width + gap)}
          y="0"
          width={width}
          height={height}
          rx="1"
          fill={colourOf(share)}
        >
          <title>{titleOf(share, moment(first + hour * hourMs, now))}</title>
        </rect>
      ))}
    </svg>
  );
}

const colourOf = (share: number | null): string =>
  share === null
    ? 'var(--muted-back)'
    : share >= 0.999
      ? 'var(--ok)'
      : share >= 0.9
        ? 'var(--warning)'
        : 'var(--critical)';

const titleOf = (share: number | null, time: string): string =>
  share === null
    ? say(text.unmeasuredHour, { time })
    : say(text.hour, { time, share: `${(share * 100).toFixed(1)} %` });
