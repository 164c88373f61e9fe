import { useMemo, useState } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { duration } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { trace as text } from '../../text/english/watch/traces.ts';
import { count, say } from '../../text/words.ts';
import { Empty, Fields, Head, Refused, Skeleton } from '../../kit/parts.tsx';
import { Mark } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { ServiceMap } from './service-map.tsx';
import { type Span, type TraceAnswer, treeOf } from './tree.ts';

/** One trace: each span where it stood in the time of all. */
export function TracePage({ id }: { readonly id: string }) {
  const { value, error, reload } = useData<TraceAnswer>(`/traces/${encodeURIComponent(id)}`);
  const trace = useMemo(() => value && treeOf(value), [value]);
  const [picked, setPicked] = useState<string>();
  if (trace === undefined) {
    return error === undefined ? (
      <Skeleton lines={8} />
    ) : error.status === 404 || error.status === 400 ? (
      <Empty title={say(text.notFound, { id })}>
        <a href={address(['traces'])}>{text.back}</a>
      </Empty>
    ) : (
      <Refused error={error} retry={reload} />
    );
  }
  const { spans, services, start, length } = trace;
  return (
    <>
      <Head
        title={spans[0]?.name ?? id}
        note={
          <>
            <Time at={start} as="clock" /> · {duration(length / 1000)} ·{' '}
            {count(text.spans, spans.length)} · {count(text.services, services.length)} ·{' '}
            <span class="mono">{id}</span>
          </>
        }
      />
      <ul class="legend flat">
        {services.map((name, at) => (
          <li key={name}>
            <i class={`swatch series-${(at % 7) + 1}`} />
            {name}
          </li>
        ))}
      </ul>
      <ol class="waterfall" aria-label={text.waterfall}>
        {spans.map((span) => (
          <SpanRow
            key={span.id}
            span={span}
            colour={(services.indexOf(span.service) % 7) + 1}
            total={length}
            isPicked={picked === span.id}
            onPick={() => setPicked(picked === span.id ? undefined : span.id)}
          />
        ))}
      </ol>
      {services.length > 1 && <ServiceMap spans={spans} services={services} />}
    </>
  );
}

interface SpanRowProps {
  readonly span: Span;
  readonly colour: number;
  readonly total: number;
  readonly isPicked: boolean;
  readonly onPick: () => void;
}

function SpanRow({ span, colour, total, isPicked, onPick }: SpanRowProps) {
  const left = total === 0 ? 0 : (span.offset / total) * 100;
  const width = total === 0 ? 100 : Math.max(0.3, (span.length / total) * 100);
  return (
    <li>
      <button type="button" aria-expanded={isPicked} onClick={onPick}>
        <span class="span-name cut" style={{ paddingLeft: `${Math.min(span.depth, 12) * 14}px` }}>
          {span.hasFailed && <Mark tone="critical" label={text.failed} />} {span.name}
        </span>
        <span class="span-track">
          <i
            class={`series-${colour}`}
            style={{
              left: `${Math.min(left, 99.7)}%`,
              width: `${Math.min(width, 100 - Math.min(left, 99.7))}%`,
            }}
          />
        </span>
        <span class="num">{duration(span.length / 1000)}</span>
      </button>
      {isPicked && (
        <div class="span-more">
          <Fields
            of={[
              [text.service, span.service],
              [text.began, duration(span.offset / 1000)],
              [text.took, duration(span.length / 1000)],
              [text.kind, span.kind],
              [text.state, span.message],
              ...span.attributes,
            ]}
          />
        </div>
      )}
    </li>
  );
}
