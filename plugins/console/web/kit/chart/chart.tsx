import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { figure, moment, type Unit } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { useStore } from '../../browser/store.ts';
import { theme } from '../../browser/theme.ts';
import { chart as text } from '../../text/english/kit.ts';
import { count, say } from '../../text/words.ts';
import { type ChartQuery, fewPoints, useMatrix, type Window } from './matrix.ts';
import type { Opened } from './menu.tsx';
import type { Shown } from './shown.ts';
import { Button, Refused, Skeleton } from '../parts.tsx';
import type { Band, Mark, Plot, Plotted, PlotPlace } from './plot.ts';
import type { Axis } from './scale.ts';

interface ChartProps {
  readonly title: string;
  readonly queries: readonly ChartQuery[];
  readonly window: Window;
  readonly unit?: Unit;
  readonly height?: number;
  /** Number of points to fetch; a wide chart shows more. */
  readonly points?: number;
  readonly top?: number;
  readonly marks?: readonly Mark[];
  readonly sync?: string;
  readonly onRange?: (from: number, to: number) => void;
  readonly axis?: Axis;
  readonly bands?: readonly Band[];
  /** Draws over the lines, where it is told that values are. */
  readonly over?: (place: PlotPlace) => ComponentChildren;
}

const mostNamed = 8;

/** A chart of the metrics store that stays current, with a table behind it and a way to its query. */
export function Chart({ queries, window, height = 160, points = fewPoints, ...rest }: ChartProps) {
  const { plotted, error, bounds, retry } = useMatrix(queries, window, points);
  return (
    <Graph
      {...rest}
      height={height}
      bounds={bounds}
      queries={queries}
      plotted={error ? undefined : plotted}
      otherwise={error ? <Refused error={error} retry={retry} /> : <Skeleton height={height} />}
    />
  );
}

interface GraphProps extends Omit<ChartProps, 'window' | 'points'> {
  readonly plotted: Plotted | undefined;
  readonly bounds: readonly [number, number];
  /** Placeholder while there are no lines. */
  readonly otherwise: ComponentChildren;
  readonly tools?: ComponentChildren;
  /** A legend in place of the usual one, for the point that is pointed at. */
  readonly legend?: (at: number | null) => ComponentChildren;
}

/** Lines that somebody else has asked for, drawn as every chart is. */
export function Graph({
  title,
  plotted,
  bounds,
  queries,
  unit = 'count',
  height = 160,
  otherwise,
  tools,
  legend,
  ...drawn
}: GraphProps) {
  const [asTable, setAsTable] = useState(false);
  const [point, setPoint] = useState<number | null>(null);
  const [opened, open] = useState<Opened>();
  const own = queries.filter(({ ago }) => ago === undefined);
  const leads = own.length > 0;
  return (
    <figure class="chart">
      <figcaption>
        <h2 class="cut" title={title}>
          {title}
        </h2>
        <div class="chart-tools">
          {tools}
          <Button
            kind="quiet"
            icon="table"
            label={`${text.table}: ${title}`}
            pressed={asTable}
            onClick={() => setAsTable(!asTable)}
          />
          {leads && <Leading title={title} queries={own} onOpen={open} />}
        </div>
      </figcaption>
      {plotted === undefined ? (
        otherwise
      ) : plotted.lines.length === 0 ? (
        <p class="chart-empty soft" style={{ height: `${height}px` }}>
          {text.empty}
        </p>
      ) : asTable ? (
        <Values plotted={plotted} unit={unit} title={title} />
      ) : (
        <>
          <Canvas
            {...drawn}
            title={title}
            plotted={plotted}
            bounds={bounds}
            unit={unit}
            height={height}
            onPoint={setPoint}
            onMoment={(at, { clientX: x, clientY: y }) => leads && open({ x, y, at })}
          />
          {legend === undefined ? (
            <Legend plotted={plotted} unit={unit} at={point} marks={drawn.marks} />
          ) : (
            legend(point)
          )}
        </>
      )}
      {opened && (
        <Onward
          shown={{ title, queries: own, unit, plotted, bounds }}
          opened={opened}
          onClose={() => open(undefined)}
        />
      )}
    </figure>
  );
}

interface LeadingProps {
  readonly title: string;
  readonly queries: readonly ChartQuery[];
  readonly onOpen: (opened: Opened) => void;
}

/** Ways to the query of a chart, and to everything else that it leads to. */
const Leading = ({ title, queries, onOpen }: LeadingProps) => (
  <>
    <a
      class="button button-quiet"
      href={address(['explore'], { q: queries.map(({ expr }) => expr) })}
      aria-label={`${text.query}: ${title}`}
      title={text.query}
    >
      ⌕
    </a>
    <Button
      kind="quiet"
      icon="more"
      label={say(text.actions, { title })}
      onClick={({ currentTarget }) => {
        const { left, bottom } = currentTarget.getBoundingClientRect();
        onOpen({ x: left, y: bottom });
      }}
    />
  </>
);

interface CanvasProps extends Pick<
  ChartProps,
  'title' | 'top' | 'marks' | 'bands' | 'sync' | 'onRange' | 'axis' | 'over'
> {
  readonly plotted: Plotted;
  readonly bounds: readonly [number, number];
  readonly unit: Unit;
  readonly height: number;
  readonly onPoint: (index: number | null) => void;
  readonly onMoment: (at: number, event: MouseEvent) => void;
}

function Canvas({
  title,
  plotted,
  bounds,
  unit,
  height,
  top,
  marks,
  bands,
  sync,
  axis,
  over,
  onPoint,
  onMoment,
  onRange,
}: CanvasProps) {
  const [place, setPlace] = useState<PlotPlace>();
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const [kit, setKit] = useState<typeof import('./plot.ts')>();
  const shownTheme = useStore(theme);
  const drawn = JSON.stringify([marks, bands, axis]);
  useEffect(() => void import('./plot.ts').then((loaded) => setKit(() => loaded)), []);
  useEffect(() => {
    if (kit) {
      plot.current = new kit.Plot(element.current!, {
        unit,
        height,
        top,
        marks,
        bands,
        sync,
        onPoint,
        onMoment,
        onRange,
        axis,
        ...(over && {
          onPlace: (next: PlotPlace) =>
            setPlace((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next)),
        }),
      });
    }
    return () => {
      plot.current?.close();
      plot.current = undefined;
    };
  }, [kit, unit, height, shownTheme, drawn]);
  useEffect(
    () => plot.current?.draw(plotted, bounds),
    [kit, plotted, bounds[0], bounds[1], shownTheme, drawn],
  );
  return (
    <div class="plot-frame">
      <div
        class="plot"
        ref={element}
        role="img"
        aria-label={kit?.summary(title, plotted, unit) ?? title}
        style={{ height: `${height}px` }}
      />
      {place && over?.(place)}
    </div>
  );
}

interface OnwardProps {
  readonly shown: Shown;
  readonly opened: Opened;
  readonly onClose: () => void;
}

/** The menu of a chart, which is fetched when it is first opened. */
function Onward(props: OnwardProps) {
  const [kit, setKit] = useState<typeof import('./menu.tsx')>();
  useEffect(() => void import('./menu.tsx').then((loaded) => setKit(() => loaded)), []);
  return kit === undefined ? null : <kit.Menu {...props} />;
}

function Legend({
  plotted: { times, lines },
  unit,
  at,
  marks = [],
}: {
  readonly plotted: Plotted;
  readonly unit: Unit;
  readonly at: number | null;
  readonly marks?: readonly Mark[];
}) {
  // As near as the pointer can tell.
  const near = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 100;
  const pointed = at === null ? undefined : times[at];
  return (
    <ul class="legend">
      {pointed !== undefined && <li class="legend-time">{moment(pointed * 1000, Date.now())}</li>}
      {marks.map(
        ({ at: marked, label }) =>
          label !== undefined &&
          pointed !== undefined &&
          Math.abs(marked - pointed) <= near && (
            <li key={`${marked} ${label}`}>
              <span class="cut" title={label}>
                {label}
              </span>
            </li>
          ),
      )}
      {lines.slice(0, mostNamed).map(({ name, values, look }, index) => (
        <li key={name}>
          <i class={`swatch series-${((look?.series ?? index) % 7) + 1}`} />
          <span class="cut" title={name}>
            {name}
          </span>
          <b>
            {figure(at === null ? values.findLast((value) => value !== null) : values[at], unit)}
          </b>
        </li>
      ))}
      {lines.length > mostNamed && (
        <li class="soft">{count(text.left, lines.length - mostNamed)}</li>
      )}
    </ul>
  );
}

function Values({
  plotted: { times, lines },
  unit,
  title,
}: {
  readonly plotted: Plotted;
  readonly unit: Unit;
  readonly title: string;
}) {
  const stride = Math.max(1, Math.ceil(times.length / 60));
  const rows = times
    .map((time, index) => ({ time, index }))
    .filter(({ index }) => index % stride === 0);
  return (
    <div class="table scrolls" tabIndex={0} role="region" aria-label={title}>
      <table aria-label={title}>
        <thead>
          <tr>
            <th scope="col">{text.time}</th>
            {lines.slice(0, mostNamed).map(({ name }) => (
              <th key={name} scope="col" class="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time, index }) => (
            <tr key={time}>
              <td>{moment(time * 1000, Date.now())}</td>
              {lines.slice(0, mostNamed).map(({ name, values }) => (
                <td key={name} class="num">
                  {figure(values[index], unit)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
