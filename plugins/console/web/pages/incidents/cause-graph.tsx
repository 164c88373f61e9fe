import { wear } from '../../browser/sheet.ts';
import rules from '../../styles/cause-graph.css' with { type: 'text' };
import { causeGraph as text } from '../../text/english/watch/incidents.ts';

/** One step of a failure from one thing to the next, and which checks say so. */
export interface Propagation {
  readonly from: string;
  readonly to: string;
  readonly relation: string;
  readonly checks: { readonly edge: boolean; readonly deviates: boolean; readonly order: boolean };
}

wear(rules);

const box = { width: 150, height: 34, gapX: 64, gapY: 14 };

interface Placed {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

/** The way of a failure, from the left to the right; a dashed line is a step that not all checks confirm. */
export function CauseGraph({
  steps,
  names,
}: {
  readonly steps: readonly Propagation[];
  readonly names: ReadonlyMap<string, string>;
}) {
  const nodes = placed(steps);
  const at = new Map(nodes.map((node) => [node.name, node]));
  const width = Math.max(...nodes.map(({ x }) => x)) + box.width + 2;
  const height = Math.max(...nodes.map(({ y }) => y)) + box.height + 2;
  const called = (node: string): string => names.get(node) ?? node.replace(/^[a-z]+:/, '');
  const sentence = steps
    .map(({ from, to, relation }) => `${called(from)} ${relation} ${called(to)}`)
    .join('; ');
  return (
    <div class="cause-graph" tabIndex={0} role="group" aria-label={text.label}>
      <svg
        style={{ width: `clamp(${Math.round(width * 0.75)}px, 100%, ${width}px)` }}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${text.label}: ${sentence}`}
      >
        {steps.map(({ from, to, relation, checks }) => {
          const [start, end] = [at.get(from)!, at.get(to)!];
          const [x1, y1, x2, y2] = [
            start.x + box.width,
            start.y + box.height / 2,
            end.x,
            end.y + box.height / 2,
          ];
          const isSure = checks.edge && checks.deviates && checks.order;
          return (
            <g key={`${from} ${to}`} class={isSure ? 'sure' : 'unsure'}>
              <path d={`M${x1} ${y1} C ${x1 + 40} ${y1}, ${x2 - 40} ${y2}, ${x2 - 6} ${y2}`} />
              <path class="tip" d={`M${x2} ${y2} l-7 -4 v8 Z`} />
              <text x={(x1 + x2) / 2} y={(y1 + y2) / 2 - 5} text-anchor="middle">
                {relation.replaceAll('_', ' ')}
              </text>
              <title>{`${called(from)} → ${called(to)}: ${isSure ? text.confirmed : text.assumed}`}</title>
            </g>
          );
        })}
        {nodes.map(({ name, x, y }, index) => (
          <g key={name} class={index === 0 ? 'node first' : 'node'}>
            <rect x={x + 1} y={y + 1} width={box.width} height={box.height} rx="4" />
            <text x={x + box.width / 2} y={y + box.height / 2 + 4} text-anchor="middle">
              {called(name).length > 20 ? `${called(name).slice(0, 19)}…` : called(name)}
            </text>
            <title>{called(name)}</title>
          </g>
        ))}
      </svg>
    </div>
  );
}

/**
 * Places each thing in the column of its longest path from a start; a cycle ends where it would
 * repeat.
 */
function placed(steps: readonly Propagation[]): readonly Placed[] {
  const names = [...new Set(steps.flatMap(({ from, to }) => [from, to]))];
  const columns = new Map(names.map((name) => [name, 0]));
  for (let round = 0; round < names.length; round += 1) {
    for (const { from, to } of steps) {
      columns.set(
        to,
        Math.min(
          names.length - 1,
          Math.max(columns.get(to)!, columns.get(from)! + (from === to ? 0 : 1)),
        ),
      );
    }
  }
  const filled = new Map<number, number>();
  return names
    .toSorted((a, b) => columns.get(a)! - columns.get(b)!)
    .map((name) => {
      const column = columns.get(name)!;
      const row = filled.get(column) ?? 0;
      filled.set(column, row + 1);
      return { name, x: column * (box.width + box.gapX), y: row * (box.height + box.gapY) };
    });
}
