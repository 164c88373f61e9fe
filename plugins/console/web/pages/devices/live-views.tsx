import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { wear } from '../../browser/sheet.ts';
import rules from '../../styles/host.css' with { type: 'text' };
import { api, type ApiError } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';
import { useMay, useRoom } from '../../client/additions.ts';
import { hostViews as text } from '../../text/english/watch/devices.ts';
import { say } from '../../text/words.ts';
import { Button, Refused, Section, Skeleton } from '../../kit/parts.tsx';

wear(rules);

type Item = Readonly<Record<string, unknown>>;

/** A list that the host itself answers, by one of its skills. */
interface View {
  readonly skill: string;
  readonly title: string;
  /** Field of the result that holds the list. */
  readonly list: string;
  readonly columns: readonly (readonly [head: string, cell: (item: Item) => ComponentChildren])[];
}

const views: readonly View[] = [
  {
    skill: 'units_list',
    title: text.units,
    list: 'units',
    columns: [
      [text.name, ({ unit }) => <span class="mono">{plain(unit)}</span>],
      [text.state, ({ active, sub }) => `${plain(active)} (${plain(sub)})`],
      [text.description, ({ description }) => plain(description)],
    ],
  },
  {
    skill: 'containers_list',
    title: text.containers,
    list: 'containers',
    columns: [
      [text.name, ({ name }) => <span class="mono">{plain(name)}</span>],
      [text.state, ({ state, status }) => plain(status ?? state)],
      [text.image, ({ image }) => <span class="mono">{plain(image)}</span>],
      [text.restarts, ({ restarts }) => plain(restarts)],
    ],
  },
  {
    skill: 'sockets',
    title: text.sockets,
    list: 'sockets',
    columns: [
      [text.protocol, ({ protocol }) => plain(protocol)],
      [
        text.address,
        ({ local_address: host, local_port: port }) => (
          <span class="mono">{`${plain(host)}:${plain(port)}`}</span>
        ),
      ],
      [
        text.process,
        ({ process, pid }) => (process === null ? '–' : `${plain(process)} (${plain(pid)})`),
      ],
    ],
  },
];

/** Lists of what is on a host at this moment; each part is read when it is opened. */
export function LiveViews({ device }: { readonly device: number }) {
  const hasSkills = useRoom('skill');
  const may = useMay();
  return hasSkills && may('skill:execute') ? (
    <Section title={text.now}>
      {views.map((view) => (
        <LiveView key={view.skill} device={device} view={view} />
      ))}
    </Section>
  ) : null;
}

interface Executed {
  readonly status: string;
  readonly error?: string | null;
  readonly result?: Readonly<Record<string, unknown>>;
}

function LiveView({ device, view }: { readonly device: number; readonly view: View }) {
  const [answer, setAnswer] = useState<Executed | 'asked'>();
  const [error, setError] = useState<ApiError>();
  const read = async (): Promise<void> => {
    setAnswer('asked');
    setError(undefined);
    try {
      setAnswer(
        await api.post<Executed>(`/skills/${view.skill}/execute`, {
          device_id: device,
          params: {},
        }),
      );
    } catch (refused) {
      setAnswer(undefined);
      setError(asApiError(refused));
    }
  };
  return (
    <details
      class="live-view"
      onToggle={({ currentTarget: { open } }) =>
        open && answer === undefined && error === undefined && void read()
      }
    >
      <summary>{view.title}</summary>
      {error !== undefined ? (
        error.status === 404 ? (
          <p class="soft">{text.noSkill}</p>
        ) : (
          <Refused error={error} retry={() => void read()} />
        )
      ) : answer === undefined ? null : answer === 'asked' ? (
        <Skeleton lines={3} />
      ) : answer.status === 'ok' ? (
        <>
          <Listed view={view} items={itemsIn(answer.result?.[view.list])} />
          <Button kind="quiet" onClick={() => void read()}>
            {text.readAgain}
          </Button>
        </>
      ) : (
        <p class="soft">{say(text.notHere, { reason: answer.error ?? answer.status })}</p>
      )}
    </details>
  );
}

function Listed({ view, items }: { readonly view: View; readonly items: readonly Item[] }) {
  return items.length === 0 ? (
    <p class="soft">{text.nothing}</p>
  ) : (
    <div class="table scrolls" tabIndex={0} role="region" aria-label={view.title}>
      <table aria-label={view.title}>
        <thead>
          <tr>
            {view.columns.map(([head]) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item, index) => (
            <tr key={index}>
              {view.columns.map(([head, cell]) => (
                <td key={head}>{cell(item)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Returns the objects of a list; the host that sent it may not be ours. */
const itemsIn = (list: unknown): readonly Item[] =>
  Array.isArray(list)
    ? list.filter((item): item is Item => typeof item === 'object' && item !== null)
    : [];

const plain = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : '–';
