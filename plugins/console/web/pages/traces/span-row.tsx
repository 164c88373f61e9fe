import { useNames } from '../../client/names.ts';
import { address } from '../../browser/location.ts';
import { trace as text } from '../../text/english/watch/traces.ts';
import { duration } from '../../text/format.ts';
import { Fields } from '../../kit/parts.tsx';
import { Mark } from '../../kit/status.tsx';
import type { Part } from './critical-path.ts';
import type { Span } from './tree.ts';

interface SpanRowProps {
  /** Id of the trace. */
  readonly trace: string;
  readonly span: Span;
  /** Beginning of the trace, in milliseconds since the epoch. */
  readonly start: number;
  /** Milliseconds in which it worked itself. */
  readonly self: number;
  /** Parts of it that the trace waited for. */
  readonly waited: readonly Part[];
  readonly colour: number;
  readonly total: number;
  readonly isPicked: boolean;
  readonly onPick: () => void;
}

/** A span where it stood in the time of its trace; picked, with everything that is known of it. */
export function SpanRow({ span, waited, colour, total, isPicked, onPick, ...more }: SpanRowProps) {
  const share = (part: number): number => (total === 0 ? 0 : (part / total) * 100);
  const left = Math.min(share(span.offset), 99.7);
  const width = total === 0 ? 100 : Math.max(0.3, share(span.length));
  return (
    <li>
      <button type="button" aria-expanded={isPicked} onClick={onPick}>
        <span class="span-name cut" style={{ paddingLeft: `${Math.min(span.depth, 12) * 14}px` }}>
          {span.hasFailed && <Mark tone="critical" label={text.failed} />} {span.name}
        </span>
        <span class="span-track">
          <i
            class={`series-${colour}`}
            style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }}
          />
          {waited.map(([from, to]) => (
            <i
              key={from}
              class="span-waited"
              style={{ left: `${share(from)}%`, width: `${share(to - from)}%` }}
            />
          ))}
        </span>
        <span class="num">{duration(span.length / 1000)}</span>
      </button>
      {isPicked && <More span={span} waited={waited} {...more} />}
    </li>
  );
}

/** Seconds before and after a span in which its service may have written about it. */
const aroundSeconds = 30;

function More({
  trace,
  span,
  start,
  self,
  waited,
}: Pick<SpanRowProps, 'trace' | 'span' | 'start' | 'self' | 'waited'>) {
  const { service, device } = span;
  const name = useNames(device === undefined ? [] : [{ device_id: device }])({
    device_id: device ?? '',
  })['device'];
  const began = (start + span.offset) / 1000;
  const at = `${Math.floor(began - aroundSeconds)}-${Math.ceil(began + span.length / 1000 + aroundSeconds)}`;
  const own = JSON.stringify(service);
  return (
    <div class="span-more">
      <p class="span-ways">
        <a class="button" href={address(['logs'], { q: `{service_name=${own}}`, at })}>
          {text.logs}
        </a>
        <a
          class="button"
          href={address(['logs'], {
            q: `{service_name=~".+"} | trace_id=${JSON.stringify(trace)}`,
            at,
          })}
        >
          {text.traceLogs}
        </a>
        <a class="button" href={address(['traces'], { q: `{ resource.service.name = ${own} }` })}>
          {text.ofService}
        </a>
      </p>
      <Fields
        of={[
          [text.service, service],
          [
            text.device,
            device !== undefined && <a href={address(['devices', device])}>{name ?? device}</a>,
          ],
          [text.began, duration(span.offset / 1000)],
          [text.took, duration(span.length / 1000)],
          [text.self, duration(self / 1000)],
          [text.waited, duration(waited.reduce((sum, [from, to]) => sum + to - from, 0) / 1000)],
          [text.kind, span.kind],
          [text.state, span.message],
          ...span.attributes,
        ]}
      />
    </div>
  );
}
