import type { DashboardPanel } from '../model/dashboard.ts';
import { arranged, columns, type Position } from '../model/position.ts';
import type { Binding, Bindings } from '../variables/insertion.ts';
import { all, type Choices } from './choices.ts';

/** A panel as it is drawn once: with the values that its variables have here. */
export interface Unfolded {
  readonly panel: DashboardPanel;
  readonly bindings: Bindings;
  readonly repeated?: { readonly variable: string; readonly value: string };
  /** Number of a row among the rows. */
  readonly row?: number;
  /** True inside of a closed row: nobody sees it. */
  readonly folded: boolean;
}

interface Section {
  readonly row?: DashboardPanel;
  readonly panels: readonly DashboardPanel[];
}

const mostCopies = 50;
const usualPerRow = 4;

/**
 * Returns the panels in reading order: rows and panels that are repeated once for each value of
 * their variable, and everything below moved down.
 */
export function unfold(
  panels: readonly DashboardPanel[],
  choices: Choices,
  open = 'all',
): readonly Unfolded[] {
  const found: (Unfolded & { readonly position: Position })[] = [];
  const isOpen = opened(open);
  let rows = 0;
  let down = 0;
  for (const { row, panels: inside } of sectionsOf(arranged(panels))) {
    const begin = row?.position.y ?? 0;
    const end = Math.max(begin, ...inside.map(({ position }) => position.y + position.h));
    const copies = row === undefined ? [{ bindings: choices.bindings }] : copiesOf(row, choices);
    for (const [at, { bindings, repeated }] of copies.entries()) {
      const moved = (position: Position): Position => ({ ...position, y: position.y + down });
      down += at > 0 ? end - begin : 0;
      let folded = false;
      if (row !== undefined) {
        folded = !isOpen(rows, row.collapsed === true);
        const position = moved(row.position);
        found.push({
          panel: row,
          bindings,
          ...(repeated && { repeated }),
          row: rows,
          folded,
          position,
        });
        rows += 1;
      }
      for (const panel of inside) {
        const own =
          panel.repeat === undefined ? [{ bindings }] : copiesOf(panel, choices, bindings);
        own.forEach((copy, index) =>
          found.push({
            panel,
            folded,
            ...(repeated && { repeated }),
            ...copy,
            position: moved(placeOf(panel, index, own.length)),
          }),
        );
      }
    }
  }
  return arranged(found).map(({ position, panel, ...rest }) => ({
    ...rest,
    panel: { ...panel, position },
  }));
}

function opened(open: string): (row: number, collapsed: boolean) => boolean {
  const numbers = new Set(open.split(',').map(Number));
  return (row, collapsed) =>
    open === 'all' || (open === 'saved' ? !collapsed : open !== 'none' && numbers.has(row));
}

function sectionsOf(panels: readonly DashboardPanel[]): readonly Section[] {
  const sections: { row?: DashboardPanel; panels: DashboardPanel[] }[] = [{ panels: [] }];
  for (const panel of panels) {
    if (panel.type === 'row') {
      sections.push({ row: panel, panels: [] });
    } else {
      sections.at(-1)!.panels.push(panel);
    }
  }
  return sections;
}

type Copy = Pick<Unfolded, 'bindings' | 'repeated'>;

/** Returns one copy for each value that is chosen; one with the variable as it is without any. */
function copiesOf(
  { repeat }: DashboardPanel,
  { list, bindings: every }: Choices,
  bindings: Bindings = every,
): readonly Copy[] {
  const choice = list.find(({ variable }) => variable.name === repeat?.variable);
  const values = choice?.value[0] === all ? choice.values : (choice?.value ?? []);
  if (choice === undefined || values.length === 0) {
    return [{ bindings }];
  }
  const { name } = choice.variable;
  const before = bindings.get(name);
  return values.slice(0, mostCopies).map((value) => {
    const kind = before?.kind === 'words' ? before.kind : 'texts';
    const binding: Binding = { kind, values: [value] };
    return {
      bindings: new Map([...bindings, [name, binding]]),
      repeated: { variable: name, value },
    };
  });
}

/** Side by side, or one below the other. */
function placeOf({ position, repeat }: DashboardPanel, at: number, copies: number): Position {
  if (copies === 1 || repeat === undefined) {
    return position;
  }
  if (repeat.direction === 'vertical') {
    return { ...position, y: position.y + at * position.h };
  }
  const beside = Math.min(copies, repeat.max_per_row ?? usualPerRow);
  const w = Math.floor(columns / beside);
  return {
    x: (at % beside) * w,
    y: position.y + Math.floor(at / beside) * position.h,
    w,
    h: position.h,
  };
}
