import { field, text } from './foreign-json.ts';
import { type Cell, type Field, type Frame, rowsIn } from './frame.ts';

const keyOf = (cell: Cell | undefined): string => JSON.stringify(cell ?? null);

/** Frames side by side, by the values of one of their columns: the time, unless another is named. */
export function joined(frames: readonly Frame[], options: unknown): readonly Frame[] {
  const wanted = text(field(options, 'byField'));
  const isInner = field(options, 'mode') === 'inner';
  const sides = frames.flatMap((frame) => {
    const key = frame.fields.find(({ name, type }) =>
      wanted === '' ? type === 'time' : name === wanted,
    );
    return key === undefined ? [] : [{ frame, key }];
  });
  const [first] = sides;
  if (first === undefined || frames.length < 2) {
    return frames;
  }
  const rowOf = sides.map(({ key }) => new Map(key.values.map((cell, row) => [keyOf(cell), row])));
  const cells = new Map(
    sides.flatMap(({ key }) => key.values.map((cell) => [keyOf(cell), cell] as const)),
  );
  const keys = [...cells].filter(([name]) => !isInner || rowOf.every((rows) => rows.has(name)));
  if (first.key.type === 'time') {
    keys.sort(([, a], [, b]) => Number(a) - Number(b));
  }
  return [
    {
      ref: 'joined',
      fields: [
        { ...first.key, values: keys.map(([, cell]) => cell) },
        ...sides.flatMap(({ frame, key }, side) =>
          frame.fields
            .filter((one) => one !== key)
            .map((one) => ({
              ...one,
              values: keys.map(([name]) => {
                const row = rowOf[side]!.get(name);
                return row === undefined ? null : (one.values[row] ?? null);
              }),
            })),
        ),
      ],
    },
  ];
}

/** One table of all frames; rows that agree in the columns that frames share become one. */
export function merged(frames: readonly Frame[]): readonly Frame[] {
  const full = frames.filter((frame) => frame.fields.length > 0);
  if (full.length < 2) {
    return full;
  }
  const columns = new Map<string, Field>();
  for (const one of full.flatMap(({ fields }) => fields)) {
    if (!columns.has(one.name)) {
      columns.set(one.name, one);
    }
  }
  const shared = [...columns.keys()].filter(
    (name) => full.filter(({ fields }) => fields.some((one) => one.name === name)).length > 1,
  );
  const rows: Map<string, Cell>[] = [];
  const byKey = new Map<string, Map<string, Cell>[]>();
  for (const frame of full) {
    for (let at = 0; at < rowsIn(frame); at += 1) {
      const row = new Map(frame.fields.map(({ name, values }) => [name, values[at] ?? null]));
      const key = JSON.stringify(shared.map((name) => row.get(name) ?? null));
      const found = byKey.get(key) ?? [];
      const mate = found.find((other) =>
        [...row].every(
          ([name, cell]) => !other.has(name) || keyOf(other.get(name)) === keyOf(cell),
        ),
      );
      if (mate === undefined) {
        byKey.set(key, [...found, row]);
        rows.push(row);
      } else {
        row.forEach((cell, name) => mate.set(name, cell));
      }
    }
  }
  return [
    {
      ref: 'merged',
      fields: [...columns.values()].map(({ name, type }) => ({
        name,
        type,
        values: rows.map((row) => row.get(name) ?? null),
      })),
    },
  ];
}
