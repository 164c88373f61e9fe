import { useMemo } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { useParam } from '../../browser/location.ts';
import { hostViews as text } from '../../text/english/watch/devices.ts';
import type { Unit } from '../../text/format.ts';
import { say } from '../../text/words.ts';
import { Graph } from '../../kit/chart/chart.tsx';
import type { Window } from '../../kit/chart/matrix.ts';
import type { Plotted } from '../../kit/chart/plot.ts';
import { Segments } from '../../kit/form.tsx';
import { Section, Skeleton } from '../../kit/parts.tsx';
import { NotMeasured } from './not-measured.tsx';

interface Remembered {
  readonly pid: number;
  readonly name: string;
  /** `[time, percent of a core, resident bytes, bytes read and written a second]`, oldest first. */
  readonly uses: readonly (readonly [number, number, number, number])[];
}

const measures = ['cpu', 'memory', 'disk'] as const;
type Measure = (typeof measures)[number];
const unitOf: Readonly<Record<Measure, Unit>> = {
  cpu: 'percent',
  memory: 'bytes',
  disk: 'bytes-per-second',
};
const mostDrawn = 8;
const roundMs = 60_000;
const height = 200;
const plugin = 'procmetrics';

interface ProcessHistoryProps {
  readonly edge: number | undefined;
  readonly device: number;
  readonly window: Window;
  readonly onRange: (from: number, to: number) => void;
}

/** The processes that used the most of a host over the window, as its agent remembers them. */
export function ProcessHistory({ edge, device, window, onRange }: ProcessHistoryProps) {
  const [by, setBy] = useParam('by', 'cpu');
  const measure = measures.find((one) => one === by) ?? 'cpu';
  const [from, to] = boundsOf(window);
  const { value, error } = useData<{ readonly processes: readonly Remembered[] }>(
    edge === undefined ? undefined : `/edges/${edge}/process-history`,
    { query: { from, to }, every: 'last' in window && window.every !== 0 ? roundMs : undefined },
  );
  const plotted = useMemo(
    () => value && plottedOf(value.processes, 1 + measures.indexOf(measure)),
    [value, measure],
  );
  return (
    <Section
      title={text.processes}
      aside={
        <Segments
          label={text.by}
          value={measure}
          options={measures.map((one) => [one, text[one]])}
          onChange={setBy}
        />
      }
    >
      {edge === undefined ? (
        <p class="soft">{text.noAgent}</p>
      ) : error !== undefined && value === undefined ? (
        <NotMeasured device={device} reason={error.message} plugin={plugin} />
      ) : value?.processes.every(({ uses }) => uses.length === 0) === true ? (
        <NotMeasured device={device} reason={text.noHistory} plugin={plugin} />
      ) : (
        <Graph
          title={text[measure]}
          queries={[]}
          plotted={plotted}
          bounds={[from / 1000, to / 1000]}
          unit={unitOf[measure]}
          height={height}
          sync="device"
          onRange={onRange}
          otherwise={<Skeleton height={height} />}
        />
      )}
    </Section>
  );
}

/** Returns the bounds of a window in milliseconds, on whole minutes, so that drawing again does not ask again. */
function boundsOf(window: Window): readonly [number, number] {
  if ('last' in window) {
    const to = Math.ceil(Date.now() / roundMs) * roundMs;
    return [to - window.last * 1000, to];
  }
  return [window.from * 1000, window.to * 1000];
}

/** Returns the processes with the highest values as lines; a process that was not among the first has none. */
function plottedOf(processes: readonly Remembered[], measure: number): Plotted {
  const most = (one: Remembered): number => Math.max(...one.uses.map((use) => use[measure]!));
  const drawn = processes
    .filter(({ uses }) => uses.length > 0)
    .toSorted((a, b) => most(b) - most(a))
    .slice(0, mostDrawn);
  const times = [...new Set(drawn.flatMap(({ uses }) => uses.map(([at]) => at)))].toSorted(
    (a, b) => a - b,
  );
  const places = new Map(times.map((at, index) => [at, index]));
  return {
    times: times.map((at) => at / 1000),
    lines: drawn.map(({ pid, name, uses }) => {
      const values = Array.from<number | null>({ length: times.length }).fill(null);
      uses.forEach((use) => {
        values[places.get(use[0])!] = use[measure]!;
      });
      return { name: say(text.ownName, { name, pid }), values };
    }),
  };
}
