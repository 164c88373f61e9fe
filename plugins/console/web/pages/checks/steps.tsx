import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { Section } from '../../kit/parts.tsx';
import { Mark, type Tone } from '../../kit/status.tsx';
import type { StepResult } from './check.ts';

const tones: Readonly<Record<StepResult['state'], Tone>> = {
  done: 'ok',
  failed: 'critical',
  not_reached: 'muted',
};

interface StepsProps {
  readonly place: string;
  readonly steps: readonly StepResult[];
}

/** Steps in a browser as a waterfall: each begins where the last one has ended. */
export function Steps({ place, steps }: StepsProps) {
  const total = Math.max(
    1,
    steps.reduce((sum, { took_ms: took }) => sum + (took ?? 0), 0),
  );
  const title = say(text.stepsFrom, { place });
  let from = 0;
  return (
    <Section title={title}>
      <ol class="steps" aria-label={title}>
        {steps.map(({ step, state, took_ms: took }, index) => {
          const left = (from / total) * 100;
          from += took ?? 0;
          return (
            <li key={index}>
              <span class="status">
                <Mark tone={tones[state]} />
                <span class={state === 'failed' ? 'critical' : undefined}>{step}</span>
              </span>
              {took === null ? (
                <span />
              ) : (
                <Track left={left} width={(took / total) * 100} isFailed={state === 'failed'} />
              )}
              <span class="numeric soft">
                {took === null
                  ? text[`step_${state}`]
                  : say(text.milliseconds, { number: Math.round(took) })}
              </span>
            </li>
          );
        })}
      </ol>
    </Section>
  );
}

interface TrackProps {
  /** Percent of the whole. */
  readonly left: number;
  readonly width: number;
  readonly isFailed: boolean;
}

const Track = ({ left, width, isFailed }: TrackProps) => (
  <svg width="100%" height="10" aria-hidden="true">
    <rect
      x={`${Math.min(left, 99)}%`}
      y="0"
      width={`${Math.max(width, 0.5)}%`}
      height="10"
      rx="2"
      fill={isFailed ? 'var(--critical)' : 'var(--series-1)'}
    />
  </svg>
);
