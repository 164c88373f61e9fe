import { field, isObject, text } from './foreign-json.ts';
import { type Field, type Frame, rowsIn } from './frame.ts';
import { joined } from './join.ts';
import { calcOf, calcTitles, reduced } from './reduce.ts';

const operators: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
  '**': (left, right) => left ** right,
};

const functions: Readonly<Record<string, (value: number) => number>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  round: Math.round,
  exp: Math.exp,
  ln: Math.log,
  trunc: Math.trunc,
};

type Column = (row: number) => number | null;

/** Adds a column that is calculated from others; series get one time for it. */
export function calculateField(frames: readonly Frame[], options: unknown): readonly Frame[] {
  const areSeries = frames.length > 1 && frames.every(({ fields }) => fields[0]?.type === 'time');
  return (areSeries ? joined(frames, {}) : frames).map((frame) => {
    const made = calculated(frame, options);
    if (made === undefined) {
      return frame;
    }
    const length = rowsIn(frame);
    const added: Field = {
      name: text(field(options, 'alias')) || made.name,
      type: 'number',
      values: Array.from({ length }, (_, row) => made.of(row)),
    };
    const kept =
      field(options, 'replaceFields') === true
        ? frame.fields.filter(({ type }) => type === 'time')
        : frame.fields;
    return { ...frame, fields: [...kept, added] };
  });
}

interface Calculated {
  readonly name: string;
  readonly of: Column;
}

function calculated(frame: Frame, options: unknown): Calculated | undefined {
  switch (field(options, 'mode')) {
    case 'binary':
      return binary(frame, field(options, 'binary'));
    case 'unary': {
      const name = text(field(options, 'unary', 'operator'));
      const column = columnOf(frame, field(options, 'unary', 'fieldName'));
      const apply = functions[name];
      return apply === undefined || column === undefined
        ? undefined
        : {
            name: `${name}(${text(field(options, 'unary', 'fieldName'))})`,
            of: (row) => {
              const value = column(row);
              return value === null ? null : apply(value);
            },
          };
    }
    case 'index':
      return { name: 'Row', of: (row) => row };
    default:
      return ofRow(frame, field(options, 'reduce'));
  }
}

function binary(frame: Frame, given: unknown): Calculated | undefined {
  const names = (['left', 'right'] as const).map((side) => nameOf(field(given, side)));
  const operator = text(field(given, 'operator')) || '+';
  const apply = operators[operator];
  const [left, right] = names.map((name) => columnOf(frame, name));
  return apply === undefined || left === undefined || right === undefined
    ? undefined
    : {
        name: names.join(` ${operator} `),
        of: (row) => {
          const [a, b] = [left(row), right(row)];
          return a === null || b === null ? null : apply(a, b);
        },
      };
}

/** A side is a name, a number, or what chooses a field. */
const nameOf = (side: unknown): string =>
  isObject(side)
    ? text(field(side, 'fixed')) || text(field(side, 'matcher', 'options'))
    : text(String(side));

function columnOf({ fields }: Frame, given: unknown): Column | undefined {
  const found = fields.find(({ name }) => name === given);
  if (found !== undefined) {
    return (row) => {
      const cell = found.values[row];
      return typeof cell === 'number' ? cell : null;
    };
  }
  const number = Number(given);
  return text(given) !== '' && Number.isFinite(number) ? () => number : undefined;
}

function ofRow({ fields }: Frame, given: unknown): Calculated {
  const calc = calcOf(field(given, 'reducer')) ?? 'sum';
  const include = field(given, 'include');
  const wanted = fields.filter(
    ({ name, type }) =>
      type === 'number' &&
      (!Array.isArray(include) || include.length === 0 || include.includes(name)),
  );
  return {
    name: calcTitles[calc],
    of: (row) =>
      reduced(
        wanted.map(({ values }) => {
          const cell = values[row];
          return typeof cell === 'number' ? cell : null;
        }),
        calc,
      ) ?? null,
  };
}
