import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';

const [width, height] = [160, 12];

/** Bars for the phases of a probe, one after the other. */
export function Phases({ phases }: { readonly phases: Readonly<Record<string, number>> }) {
  const all = Object.entries(phases);
  const total = all.reduce((sum, [, ms]) => sum + ms, 0);
  if (total === 0) {
    return null;
  }
  const labels = all.map(
    ([phase, ms]) => `${phase} ${say(text.milliseconds, { number: Math.round(ms * 10) / 10 })}`,
  );
  let from = 0;
  return (
    <svg width={width} height={height} role="img" aria-label={labels.join(', ')}>
      {all.map(([phase, ms], index) => {
        const x = (from / total) * width;
        from += ms;
        return (
          <rect
            key={phase}
            x={x}
            y="0"
            width={Math.max(1, (ms / total) * width)}
            height={height}
            fill={`var(--series-${(index % 7) + 1})`}
          >
            <title>{labels[index]}</title>
          </rect>
        );
      })}
    </svg>
  );
}
