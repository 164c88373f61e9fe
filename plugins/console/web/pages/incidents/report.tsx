import { api } from '../../client/api.ts';
import { useRoom } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { figure } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { report as text } from '../../text/english/watch/incidents.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Link, Markdown } from '../../kit/markdown.tsx';
import { Button, Empty, Section, Skeleton } from '../../kit/parts.tsx';
import { Mark, Tag, type Tone } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { CauseGraph, type Propagation } from './cause-graph.tsx';

interface Hypothesis {
  readonly rank: number;
  readonly node: { readonly id: string; readonly name: string };
  readonly category: string;
  readonly score: number;
  readonly text: string;
}

interface ReportOf {
  readonly id: number | null;
  readonly status: 'not_started' | 'pending' | 'running' | 'ready' | 'failed' | 'skipped';
  readonly verdict:
    | 'root_cause'
    | 'suspected'
    | 'no_anomaly'
    | 'recovered'
    | 'insufficient_data'
    | 'monitoring_fault'
    | null;
  readonly summary: string;
  readonly root_cause?: { readonly text: string; readonly since: string } | null;
  readonly confidence?: { readonly level: string; readonly value: number } | null;
  readonly chain?: readonly string[];
  readonly hypotheses?: readonly Hypothesis[];
  readonly propagation?: readonly Propagation[];
  readonly changes?: readonly {
    readonly at: string;
    readonly title: string;
    readonly before_seconds: number;
  }[];
  readonly suggested_actions?: readonly {
    readonly label: string;
    readonly why: string;
    readonly link: string | null;
  }[];
  readonly ruled_out?: readonly { readonly node: string; readonly text: string }[];
  readonly not_seen?: readonly { readonly kind: string; readonly text: string }[];
  readonly evidence?: readonly Evidence[];
  readonly markdown?: string;
}

interface Evidence {
  readonly id: string;
  readonly kind: string;
  readonly source: string;
  readonly query: string;
  readonly window: { readonly from: string; readonly to: string };
}

/** Formats a span as in the address of a page: in seconds. */
const spanOf = ({ from, to }: Evidence['window']): string =>
  `${Math.floor(Date.parse(from) / 1_000)}-${Math.ceil(Date.parse(to) / 1_000)}`;

const verdictTone: Readonly<Record<string, Tone>> = {
  root_cause: 'critical',
  suspected: 'warning',
  recovered: 'ok',
  no_anomaly: 'ok',
  monitoring_fault: 'warning',
};

/** Report on the cause; nothing if svc has no plugin that investigates. */
export function Report({ incident }: { readonly incident: number }) {
  const path = `/alerts/incidents/${incident}/investigation`;
  const hasRoom = useRoom('investigate');
  const { value, isFirst, reload } = useData<ReportOf>(hasRoom ? path : undefined, {
    kinds: ['investigations', 'incidents'],
  });
  if (!hasRoom) {
    return null;
  }
  const start = (): void => void attempt(() => api.post(path, {}), text.started).then(reload);
  const isRunning = value?.status === 'pending' || value?.status === 'running';
  const isKnown = value?.status === 'ready';
  return (
    <Section
      title={text.title}
      aside={
        isKnown && (
          <Button kind="quiet" onClick={start}>
            {text.again}
          </Button>
        )
      }
    >
      {isFirst ? (
        <Skeleton lines={3} />
      ) : isRunning ? (
        <p class="soft calm">{text.running}</p>
      ) : value && isKnown ? (
        <Findings report={value} />
      ) : (
        <Empty title={value?.status === 'failed' ? text.failed : text.none}>
          <Button onClick={start}>{text.investigate}</Button>
        </Empty>
      )}
    </Section>
  );
}

function Findings({ report }: { readonly report: ReportOf }) {
  const {
    verdict,
    summary,
    root_cause: cause,
    confidence,
    chain = [],
    hypotheses = [],
    propagation = [],
  } = report;
  return (
    <div class="report">
      <p class="verdict">
        <Mark tone={verdictTone[verdict ?? ''] ?? 'muted'} />
        <b>{verdict === null ? summary : text[verdict]}</b>
        {confidence && (
          <Tag>
            {say(text.confidence, { level: confidence.level })}{' '}
            {figure(confidence.value * 100, 'percent')}
          </Tag>
        )}
      </p>
      <p class="lead">{cause?.text ?? summary}</p>
      {chain.length > 1 && (
        <ol class="chain">
          {chain.map((sentence, at) => (
            <li key={at}>{sentence}</li>
          ))}
        </ol>
      )}
      {propagation.length > 0 && (
        <CauseGraph
          steps={propagation}
          names={new Map(hypotheses.map(({ node }) => [node.id, node.name]))}
        />
      )}
      <Details report={report} />
      {hypotheses.length > 1 && (
        <details>
          <summary>{text.others}</summary>
          <ul class="list">
            {hypotheses.slice(1, 8).map(({ rank, node, text: why, score }) => (
              <li key={rank}>
                <span class="num">{rank}</span>
                <span class="cut" title={why}>
                  {node.name}: {why}
                </span>
                <span class="soft">{figure(score)}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {report.markdown && (
        <details>
          <summary>{text.whole}</summary>
          <Markdown text={report.markdown} />
        </details>
      )}
    </div>
  );
}

/** Context of the cause: earlier changes, remedies, and what could not be examined. */
function Details({
  report: {
    changes = [],
    suggested_actions: actions = [],
    not_seen: notSeen = [],
    ruled_out: ruledOut = [],
    evidence = [],
  },
}: {
  readonly report: ReportOf;
}) {
  return (
    <>
      {changes.length > 0 && (
        <>
          <h3>{text.changes}</h3>
          <ul class="list">
            {changes.slice(0, 5).map(({ at, title, before_seconds: seconds }) => (
              <li key={at + title}>
                <span class="cut" title={title}>
                  {title}
                </span>
                <span class="soft">
                  {say(text.before, { minutes: Math.round(seconds / 60) })} ·{' '}
                  <Time at={at} as="clock" />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {actions.length > 0 && (
        <>
          <h3>{text.next}</h3>
          <ul class="list tall">
            {actions.slice(0, 5).map(({ label, why, link }) => (
              <li key={label}>
                <div>{link === null ? label : <Link href={link} label={label} />}</div>
                <div class="soft">{why}</div>
              </li>
            ))}
          </ul>
        </>
      )}
      {(notSeen.length > 0 || ruledOut.length > 0) && (
        <details>
          <summary>
            {text.ruledOut} {ruledOut.length} · {text.notSeen} {notSeen.length}
          </summary>
          <ul class="plain">
            {[...ruledOut, ...notSeen].map(({ text: sentence }, at) => (
              <li key={at}>{sentence}</li>
            ))}
          </ul>
        </details>
      )}
      {evidence.length > 0 && <Evidence of={evidence} />}
    </>
  );
}

const Evidence = ({ of }: { readonly of: NonNullable<ReportOf['evidence']> }) => (
  <details>
    <summary>
      {text.evidence} {of.length}
    </summary>
    <ul class="list">
      {of.map(({ id, kind, source, query, window }) => (
        <li key={id}>
          <Tag>{id}</Tag>
          <span class="cut mono" title={query}>
            {query}
          </span>
          {kind === 'metric' ? (
            <a href={address(['explore'], { q: query, at: spanOf(window) })}>{source}</a>
          ) : (
            <span class="soft">{source}</span>
          )}
        </li>
      ))}
    </ul>
  </details>
);
