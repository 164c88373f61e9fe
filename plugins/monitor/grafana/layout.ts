import { columns, lastRow, type Position } from '../model/position.ts';
import { type Foreign, isObject, objects, text, whole } from '../frames/foreign-json.ts';

/** A panel of a foreign dashboard, with where it is in the file and on the grid. */
export interface Placed {
  readonly foreign: Foreign;
  /** `3`, or `3/0` for the first panel inside of the fourth. */
  readonly place: string;
  readonly position: Position;
}

/** Returns all panels from top to bottom; those of folded rows where they are once it is open. */
export function everyPanel(dashboard: Foreign): readonly Placed[] {
  const found: Placed[] = [];
  let below = 0;
  const top = placedOf(dashboard['panels'], '').toSorted(inOrder);
  for (const { foreign, place, position } of top) {
    const y = Math.min(lastRow, position.y + below);
    found.push({ foreign, place, position: { ...position, y } });
    const inside = text(foreign['type']) === 'row' ? placedOf(foreign['panels'], place) : [];
    const first = Math.min(...inside.map((panel) => panel.position.y));
    const last = Math.max(...inside.map((panel) => panel.position.y + panel.position.h));
    found.push(
      ...inside.toSorted(inOrder).map((panel) => ({
        ...panel,
        position: {
          ...panel.position,
          y: Math.min(lastRow, y + 1 + panel.position.y - first),
        },
      })),
    );
    below += inside.length > 0 ? last - first : 0;
  }
  return [...found, ...oldRows(dashboard, found)];
}

const inOrder = (a: Placed, b: Placed): number =>
  a.position.y - b.position.y || a.position.x - b.position.x;

const placedOf = (panels: unknown, inside: string): readonly Placed[] =>
  (Array.isArray(panels) ? (panels as unknown[]) : []).flatMap((foreign, at) =>
    isObject(foreign)
      ? [
          {
            foreign,
            place: inside === '' ? String(at) : `${inside}/${at}`,
            position: positionOf(foreign),
          },
        ]
      : [],
  );

function positionOf(foreign: Foreign): Position {
  const grid = isObject(foreign['gridPos']) ? foreign['gridPos'] : {};
  const isRow = text(foreign['type']) === 'row';
  const w = isRow ? columns : whole(grid['w'], 1, columns, 12);
  return {
    x: isRow ? 0 : Math.min(whole(grid['x'], 0, columns - 1, 0), columns - w),
    y: whole(grid['y'], 0, lastRow, 0),
    w,
    h: isRow ? 1 : whole(grid['h'], 1, 100, 8),
  };
}

/** Pixels that a row of the grid stands for in dashboards whose rows have heights. */
const pixels = 38;

/** Rows of versions before 5 hold their panels always, side by side in twelve columns. */
function oldRows(dashboard: Foreign, above: readonly Placed[]): readonly Placed[] {
  const rows = objects(dashboard['rows']);
  const showsHeads = rows.some(
    (row) => row['collapse'] === true || row['showTitle'] === true || text(row['repeat']) !== '',
  );
  const found: Placed[] = [];
  let y = above.reduce((lowest, { position }) => Math.max(lowest, position.y + position.h), 0);
  for (const [at, row] of rows.entries()) {
    if (showsHeads) {
      found.push({
        foreign: { ...row, type: 'row', collapsed: row['collapse'] === true },
        place: `rows/${at}`,
        position: { x: 0, y: Math.min(lastRow, y), w: columns, h: 1 },
      });
      y += 1;
    }
    const usual = heightOf(row['height']) ?? 7;
    let x = 0;
    let tallest = 0;
    for (const { foreign, place } of placedOf(row['panels'], `rows/${at}`)) {
      const w = whole(foreign['span'], 1, 12, 4) * 2;
      if (x + w > columns) {
        y += tallest;
        x = 0;
        tallest = 0;
      }
      const h = heightOf(foreign['height']) ?? usual;
      found.push({ foreign, place, position: { x, y: Math.min(lastRow, y), w, h } });
      x += w;
      tallest = Math.max(tallest, h);
    }
    y += tallest;
  }
  return found;
}

const heightOf = (height: unknown): number | undefined => {
  const size = Number.parseInt(String(height), 10);
  return Number.isFinite(size) ? Math.min(100, Math.max(1, Math.ceil(size / pixels))) : undefined;
};
