import { useMemo, useState } from 'preact/hooks';

import { wear } from '../../browser/sheet.ts';
import rules from '../../styles/traces.css' with { type: 'text' };
import { useData } from '../../client/data.ts';
import { duration } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { trace as text } from '../../text/english/watch/traces.ts';
import { count, say } from '../../text/words.ts';
import { Empty, Head, Refused, Skeleton } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import { Compared } from './compared.tsx';
import { criticalPath, selfTimes } from './critical-path.ts';
import { ServiceMap } from './service-map.tsx';
import { SpanRow } from './span-row.tsx';
import { type TraceAnswer, treeOf } from './tree.ts';
import { Waited } from './waited.tsx';

wear(rules);

/** One trace: each span where it stood in the time of all. */
export function TracePage({ id }: { readonly id: string }) {
  const { value, error, reload } = useData<TraceAnswer>(`/traces/${encodeURIComponent(id)}`);
  const trace = useMemo(() => value && treeOf(value), [value]);
  const [picked, setPicked] = useState<string>();
  const path = useMemo(() => criticalPath(trace?.spans ?? []), [trace]);
  const self = useMemo(() => selfTimes(trace?.spans ?? []), [trace]);
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
            trace={id}
            span={span}
            start={start}
            self={self.get(span.id) ?? 0}
            waited={path.get(span.id) ?? []}
            colour={(services.indexOf(span.service) % 7) + 1}
            total={length}
            isPicked={picked === span.id}
            onPick={() => setPicked(picked === span.id ? undefined : span.id)}
          />
        ))}
      </ol>
      <Waited spans={spans} path={path} total={length} />
      {services.length > 1 && <ServiceMap spans={spans} services={services} />}
      <Compared spans={spans} />
    </>
  );
}
