import { address, usePlace } from '../../browser/location.ts';
import { useData } from '../../client/data.ts';
import { chartAsked, textIn } from '../../kit/chart/asked.ts';
import { Chart } from '../../kit/chart/chart.tsx';
import { Awaited, Empty, Fields, Head } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import { evidence as text } from '../../text/english/act/evidence.ts';
import { figure } from '../../text/format.ts';
import { say } from '../../text/words.ts';

interface Evidence {
  readonly id: string;
  readonly tool: string;
  readonly params: unknown;
  readonly created_at: string;
  readonly bytes: number;
  readonly truncated: boolean;
  readonly trust: 'trusted' | 'untrusted';
  readonly text: string;
}

/** Pages that run the query of a tool again, and draw what it finds. */
const pageOf: Readonly<Record<string, string>> = {
  metrics_query: 'explore',
  metrics_range: 'explore',
  metrics_outliers: 'explore',
  logs_query: 'logs',
  logs_range: 'logs',
  logs_templates: 'logs',
  traces_search: 'traces',
};

/** `/ui/evidence/<id>`: the result that an answer cites, and the call that returned it. */
export default function EvidencePage() {
  const { parts } = usePlace();
  return parts[1] === undefined ? (
    <>
      <Head title={text.none} />
      <Empty title={text.none}>{text.noneNote}</Empty>
    </>
  ) : (
    <One key={parts[1]} id={parts[1]} />
  );
}

function One({ id }: { readonly id: string }) {
  const { value, error } = useData<Evidence>(`/skills/evidence/${encodeURIComponent(id)}`);
  const query = textIn(value?.params, 'query');
  const chart = value && chartAsked(value.tool, value.params, Date.parse(value.created_at));
  const page = value && pageOf[value.tool];
  return (
    <>
      <Head title={say(text.title, { id })}>
        {page !== undefined && query !== undefined && (
          <a class="button" href={address([page], { q: query })}>
            {text.open}
          </a>
        )}
      </Head>
      {value === undefined ? (
        <Awaited error={error} lines={8} />
      ) : (
        <>
          <Fields
            of={[
              [text.tool, <code key="tool">{value.tool}</code>],
              [text.at, <Time key="at" at={value.created_at} />],
              [text.size, figure(value.bytes, 'bytes')],
            ]}
          />
          <h2>{text.asked}</h2>
          <pre class="code">
            {value.params === null ? text.notKept : JSON.stringify(value.params, undefined, 2)}
          </pre>
          {chart !== undefined && (
            <Chart
              title={chart.query}
              queries={[{ expr: chart.query }]}
              window={chart.window}
              height={220}
            />
          )}
          <h2>{text.result}</h2>
          {value.trust === 'untrusted' && <p class="soft">{text.untrusted}</p>}
          {value.truncated && <p class="warning">{text.truncated}</p>}
          <pre class="code">{value.text}</pre>
        </>
      )}
    </>
  );
}
