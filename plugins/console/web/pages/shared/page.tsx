import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { shared as text } from '../../text/english/watch/shared.ts';
import { say } from '../../text/words.ts';
import { fullMoment } from '../../text/format.ts';
import { Button, Empty, Head, Skeleton } from '../../kit/parts.tsx';
import { PanelView } from '../dashboards/drawn/panel.tsx';
import { sectionsOf } from '../dashboards/drawn/rows.ts';
import type { Panel } from '../dashboards/drawn/shape.ts';

interface Shared {
  readonly title: string;
  readonly from: string;
  readonly to: string;
  readonly expires_at: string;
  readonly variables: readonly { readonly title: string; readonly value: string }[];
  readonly panels: readonly Omit<Panel, 'id' | 'query' | 'legend'>[];
}

/** Shows what a public link shows, in place of the console. */
export function show(token: string): void {
  render(<SharedPage token={token} />, document.getElementById('page')!);
}

function SharedPage({ token }: { readonly token: string }) {
  const path = `/monitor/shared/${encodeURIComponent(token)}`;
  const { value, error } = useData<Shared>(path, { every: 30_000 });
  const [closed, setClosed] = useState<readonly number[]>([]);
  useEffect(() => {
    document.title = value === undefined ? 'svc' : value.title;
  }, [value?.title]);
  const bounds = value && ([Date.parse(value.from) / 1000, Date.parse(value.to) / 1000] as const);
  return (
    <main>
      <div class="page">
        {value === undefined || bounds === undefined || error?.status === 404 ? (
          error === undefined ? (
            <Skeleton lines={10} />
          ) : (
            <>
              <h1>{text.ended}</h1>
              <Empty title={error.message} />
            </>
          )
        ) : (
          <>
            <Head
              title={value.title}
              note={[
                `${fullMoment(Date.parse(value.from))} – ${fullMoment(Date.parse(value.to))}`,
                ...value.variables.map(({ title, value: chosen }) => `${title}: ${chosen}`),
                say(text.until, { time: fullMoment(Date.parse(value.expires_at)) }),
              ].join(' · ')}
            />
            {sectionsOf(
              value.panels.map((panel) => ({ ...panel, id: null, query: '', legend: '' })),
            ).map(({ row, panels }) => {
              const number = row?.row;
              const isClosed = number !== undefined && closed.includes(number);
              return (
                <section key={number ?? 'top'} class="panel-row">
                  {row && number !== undefined && (
                    <h2>
                      <Button
                        kind="quiet"
                        icon={isClosed ? 'right' : 'down'}
                        label={say(isClosed ? text.open : text.close, { title: row.title })}
                        onClick={() =>
                          setClosed(
                            isClosed ? closed.filter((one) => one !== number) : [...closed, number],
                          )
                        }
                      />
                      {row.title}
                    </h2>
                  )}
                  {!isClosed && (
                    <div class="charts panels">
                      {panels.map((panel) => (
                        <PanelView
                          key={`${panel.title} ${panel.position.x} ${panel.position.y}`}
                          panel={panel}
                          bounds={bounds}
                          marks={[]}
                          onRange={() => undefined}
                          onEdit={undefined}
                        />
                      ))}
                    </div>
                  )}
                </section>
              );
            })}
          </>
        )}
      </div>
    </main>
  );
}
