import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';

import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { address, goTo, place, usePlace } from '../../browser/location.ts';
import { dashboard as text } from '../../text/english/watch/dashboards.ts';
import type { Window } from '../../kit/chart/matrix.ts';
import { Typed } from '../../kit/form.tsx';
import { Button, Empty, Refused, Skeleton } from '../../kit/parts.tsx';
import { useAnnotations } from '../../kit/chart/annotations.tsx';
import { SpanChoice, useSpan } from '../../kit/chart/span.tsx';
import { say } from '../../text/words.ts';
import { Heading, inPlace, Kiosk } from './heading.tsx';
import { PanelView } from './drawn/panel.tsx';
import { type Section, sectionsOf } from './drawn/rows.ts';
import type { Panel, Rendered, Variable } from './drawn/shape.ts';
import { Unsaved } from './editor/unsaved.tsx';

const everything = '$__all';
const prefix = 'var-';

/** One dashboard, to look at, or to edit. */
export function DashboardPage({ uid }: { readonly uid: string }) {
  const { query } = usePlace();
  const { window } = useSpan();
  const mayWrite = useMay()('monitor:write');
  const isEdited = mayWrite && query.has('edit');
  const [parts, setParts] = useState<typeof import('./editor/editor.tsx')>();
  useEffect(() => {
    if (isEdited) {
      void import('./editor/editor.tsx').then((module) => setParts(() => module));
    }
  }, [isEdited]);
  if (!isEdited) {
    return <View uid={uid} mayWrite={mayWrite} onEdit={() => goTo(inPlace({ edit: 'on' }))} />;
  }
  return parts === undefined ? (
    <Skeleton lines={10} />
  ) : (
    <parts.Editor
      uid={uid}
      query={askedOf(window, query)}
      onDone={() => goTo(inPlace({ edit: undefined, title: undefined }), { replace: true })}
    />
  );
}

interface ViewProps {
  readonly uid: string;
  readonly mayWrite: boolean;
  readonly onEdit: () => void;
}

/** svc asks all queries of a dashboard at once, and every panel has its data or the reason why not. */
function View({ uid, mayWrite, onEdit }: ViewProps) {
  const { query } = usePlace();
  const { window, zoom, every } = useSpan();
  const annotations = useAnnotations(window);
  const length = 'last' in window ? window.last : window.to - window.from;
  const [rows, setRows] = useState('saved');
  const asked = useMemo(() => ({ ...askedOf(window, query), rows }), [window, query, rows]);
  const pace = every(Math.max(10_000, Math.round(length / 240) * 1_000));
  const { value, error, reload } = useData<Rendered>(
    `/observability/dashboards/${encodeURIComponent(uid)}`,
    { query: asked, every: pace },
  );
  if (value === undefined) {
    return error === undefined ? (
      <Skeleton lines={10} />
    ) : error.status === 404 ? (
      <>
        <Unsaved of={uid} />
        <Empty title={text.notFound}>
          <a href={address(['dashboards'])}>{text.back}</a>
        </Empty>
      </>
    ) : (
      <Refused error={error} retry={reload} />
    );
  }
  const bounds = [Date.parse(value.from) / 1000, Date.parse(value.to) / 1000] as const;
  return (
    <>
      <Kiosk />
      <Heading dashboard={value} mayWrite={mayWrite} onEdit={onEdit} onChanged={reload} />
      <Unsaved of={uid} />
      <div class="filters">
        <SpanChoice />
        {value.variables.filter(isShown).map((variable) => (
          <Choice key={variable.name} variable={variable} />
        ))}
      </div>
      {error && <Refused error={error} retry={reload} />}
      {sectionsOf(value.panels).map((section) => (
        <Row
          key={section.row?.row ?? 'top'}
          section={section}
          onToggle={(row) => setRows(toggled(value.panels, row))}
          viewOf={(panel) => (
            <PanelView
              key={`${panel.id ?? ''} ${panel.title} ${panel.position.x} ${panel.position.y}`}
              panel={panel}
              bounds={bounds}
              marks={annotations}
              onRange={zoom}
              onEdit={undefined}
            />
          )}
        />
      ))}
    </>
  );
}

/** Returns the query of a dashboard: its window, and the variables from the address. */
function askedOf(window: Window, query: URLSearchParams) {
  const span =
    'last' in window
      ? { from: `now-${window.last}s`, to: 'now' }
      : { from: String(window.from), to: String(window.to) };
  return {
    ...span,
    ...Object.fromEntries(
      [...new Set(query.keys())]
        .filter((name) => name.startsWith(prefix))
        .map((name) => [name, query.getAll(name)]),
    ),
  };
}

interface RowProps {
  readonly section: Section;
  readonly onToggle: (row: number) => void;
  readonly viewOf: (panel: Panel) => ComponentChildren;
}

/** Panels below the name of their row, which opens and closes it. */
function Row({ section: { row, panels }, onToggle, viewOf }: RowProps) {
  const isFolded = row?.folded === true;
  return (
    <section class="panel-row">
      {row && (
        <h2>
          <Button
            kind="quiet"
            icon={isFolded ? 'right' : 'down'}
            label={say(isFolded ? text.open : text.close, { title: row.title })}
            onClick={() => onToggle(row.row!)}
          />
          {row.title}
          {isFolded && <span class="soft">{panels.length}</span>}
        </h2>
      )}
      {!isFolded && <div class="charts panels">{panels.map(viewOf)}</div>}
    </section>
  );
}

/** Returns the numbers of the open rows after one of them was opened or closed. */
function toggled(panels: readonly Panel[], row: number): string {
  const open = panels.flatMap((panel) =>
    panel.row !== undefined && (panel.folded !== true) !== (panel.row === row) ? [panel.row] : [],
  );
  return open.length === 0 ? 'none' : open.join(',');
}

/** Returns whether there is a choice to make. */
const isShown = ({ hide, type, values }: Variable): boolean =>
  hide !== 'variable' && type !== 'constant' && (type !== 'datasource' || values.length > 1);

function Choice({
  variable: { name, title, type, texts, hide, multi, all, value, values, error },
}: {
  readonly variable: Variable;
}) {
  const [isMany, setMany] = useState(false);
  const options = [...new Set([...(all ? [everything] : []), ...values, ...value])];
  const set = (chosen: readonly string[]): void => {
    const next = new URLSearchParams(place.value.query);
    next.delete(prefix + name);
    chosen.forEach((one) => next.append(prefix + name, one));
    goTo(`${location.pathname}?${next.toString()}`, { replace: true });
  };
  return (
    <label class="variable" title={error?.message}>
      {hide !== 'label' && <span class="soft">{title}</span>}
      {options.length === 0 || type === 'adhoc' ? (
        <Typed
          value={type === 'adhoc' ? value.map(inWords).join(', ') : (value[0] ?? '')}
          placeholder={type === 'adhoc' ? text.filter : undefined}
          onChoose={(typed) => set(type === 'adhoc' ? filtersIn(typed) : [typed])}
        />
      ) : (
        <select
          multiple={multi && (value.length > 1 || isMany)}
          onDblClick={() => setMany(multi)}
          value={value[0]}
          onChange={(event) =>
            set([...event.currentTarget.selectedOptions].map((option) => option.value))
          }
        >
          {options.map((option) => (
            <option key={option} value={option} selected={value.includes(option)}>
              {option === everything ? text.every : (texts?.[values.indexOf(option)] ?? option)}
            </option>
          ))}
        </select>
      )}
    </label>
  );
}

/** `job|=|node` as a reader writes it, and back. */
const inWords = (filter: string): string => filter.split('|').join('');
const filtersIn = (written: string): readonly string[] =>
  written.split(',').flatMap((part) => {
    const [, label, operator, value] = /^\s*(\w+)\s*(=~|!~|!=|=)\s*(.*?)\s*$/.exec(part) ?? [];
    return label === undefined ? [] : [`${label}|${operator}|${value}`];
  });
