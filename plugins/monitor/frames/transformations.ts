import { compileRegex } from 'svc/query';

import type { Transformation } from '../model/drawing.ts';
import { field, isObject, objects, text } from './foreign-json.ts';
import { calculateField } from './calculate.ts';
import { type Cell, type Field, type Frame, rowsIn } from './frame.ts';
import { joined, merged } from './join.ts';
import { calcOf, calcTitles, reduced } from './reduce.ts';

type Change = (frames: readonly Frame[], options: unknown) => readonly Frame[];

const each =
  (change: (frame: Frame, options: unknown) => Frame): Change =>
  (frames, options) =>
    frames.map((frame) => change(frame, options));

/** Transformations that are known, by the names that Grafana gives them. */
const changes: Readonly<Record<string, Change>> = {
  calculateField,
  concatenate: (frames) =>
    frames.length === 0 ? [] : [{ ref: 'joined', fields: frames.flatMap(({ fields }) => fields) }],
  convertFieldType: each(convert),
  filterByRefId: (frames, options) => {
    const wanted = patternTest(text(field(options, 'include')));
    return frames.filter(({ ref }) => wanted(ref));
  },
  filterByValue: each(filterByValue),
  filterFieldsByName: each(filterByName),
  groupBy: each(groupBy),
  joinByField: (frames, options) => joined(frames, options),
  labelsToFields: each(labelsToFields),
  limit: each((frame, options) => {
    const most = Number(field(options, 'limitField') ?? 10);
    return picked(
      frame,
      Array.from({ length: Math.min(rowsIn(frame), most) }, (_, at) => at),
    );
  }),
  merge: (frames) => merged(frames),
  organize: each(organize),
  prepareTimeSeries: (frames) => frames,
  reduce,
  renameByRegex: each((frame, options) => {
    const pattern = compileRegex(bare(text(field(options, 'regex'), 500)));
    const template = text(field(options, 'renamePattern'));
    return {
      ...frame,
      fields: frame.fields.map((one) =>
        one.type === 'time' || !pattern.test(one.name)
          ? one
          : { ...one, name: pattern.replaceAll(one.name, template) },
      ),
    };
  }),
  seriesToColumns: (frames, options) => joined(frames, options),
  seriesToRows,
  sortBy: each(sortBy),
};

export const canTransform = (id: string): boolean => Object.hasOwn(changes, id);

/** Applies the transformations in their order. */
export const transform = (
  frames: readonly Frame[],
  transformations: readonly Transformation[],
): readonly Frame[] =>
  transformations
    .filter(({ id, disabled }) => canTransform(id) && disabled !== true)
    .reduce((now, { id, options }) => changes[id]!(now, options), frames);

/** Grafana writes `/…/` around a pattern. */
const bare = (pattern: string): string => /^\/([^]*)\/[a-z]*$/.exec(pattern)?.[1] ?? pattern;

function patternTest(pattern: string): (name: string) => boolean {
  if (pattern === '') {
    return () => false;
  }
  const compiled = compileRegex(bare(pattern));
  return (name) => compiled.test(name);
}

const picked = (frame: Frame, rows: readonly number[]): Frame => ({
  ...frame,
  fields: frame.fields.map((one) => ({ ...one, values: rows.map((row) => one.values[row]!) })),
});

const namesOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : [];

function filterByName(frame: Frame, options: unknown): Frame {
  const chosen = (part: 'include' | 'exclude'): ((name: string) => boolean) | undefined => {
    const given = field(options, part);
    const names = namesOf(field(given, 'names'));
    const pattern = text(field(given, 'pattern'), 500);
    if (names.length === 0 && pattern === '') {
      return undefined;
    }
    const fits = patternTest(pattern);
    return (name) => names.includes(name) || fits(name);
  };
  const [include, exclude] = [chosen('include'), chosen('exclude')];
  return {
    ...frame,
    fields: frame.fields.filter(
      ({ name }) => (include === undefined || include(name)) && exclude?.(name) !== true,
    ),
  };
}

function organize(frame: Frame, options: unknown): Frame {
  const [excluded, included, places, names] = (
    ['excludeByName', 'includeByName', 'indexByName', 'renameByName'] as const
  ).map((key) => field(options, key));
  const isSelective = isObject(included) && Object.values(included).includes(true);
  const placeOf = ({ name }: Field): number => {
    const place = field(places, name);
    return typeof place === 'number' ? place : Number.MAX_SAFE_INTEGER;
  };
  return {
    ...frame,
    fields: frame.fields
      .filter(
        ({ name }) =>
          field(excluded, name) !== true && (!isSelective || field(included, name) === true),
      )
      .toSorted((a, b) => placeOf(a) - placeOf(b))
      .map((one) => ({ ...one, name: text(field(names, one.name)) || one.name })),
  };
}

const comparisons: Readonly<Record<string, (cell: Cell, wanted: unknown) => boolean>> = {
  equal: (cell, wanted) => String(cell) === String(wanted),
  notEqual: (cell, wanted) => String(cell) !== String(wanted),
  greater: (cell, wanted) => Number(cell) > Number(wanted),
  greaterOrEqual: (cell, wanted) => Number(cell) >= Number(wanted),
  lower: (cell, wanted) => Number(cell) < Number(wanted),
  lowerOrEqual: (cell, wanted) => Number(cell) <= Number(wanted),
  isNull: (cell) => cell === null,
  isNotNull: (cell) => cell !== null,
  regex: (cell, wanted) => patternTest(String(wanted))(String(cell)),
  substring: (cell, wanted) => String(cell).includes(String(wanted)),
};

function filterByValue(frame: Frame, options: unknown): Frame {
  const filters = objects(field(options, 'filters')).flatMap((filter) => {
    const column = frame.fields.find(({ name }) => name === filter['fieldName']);
    const compare = comparisons[text(field(filter, 'config', 'id'))];
    const wanted = field(filter, 'config', 'options', 'value');
    return column === undefined || compare === undefined
      ? []
      : [(row: number) => compare(column.values[row]!, wanted)];
  });
  if (filters.length === 0) {
    return frame;
  }
  const isAll = field(options, 'match') === 'all';
  const keeps = field(options, 'type') !== 'exclude';
  const rows = Array.from({ length: rowsIn(frame) }, (_, at) => at).filter((row) => {
    const fits = isAll
      ? filters.every((filter) => filter(row))
      : filters.some((filter) => filter(row));
    return fits === keeps;
  });
  return picked(frame, rows);
}

function sortBy(frame: Frame, options: unknown): Frame {
  const [sort] = objects(field(options, 'sort'));
  const column = frame.fields.find(({ name }) => name === sort?.['field']);
  if (column === undefined) {
    return frame;
  }
  const sign = sort?.['desc'] === true ? -1 : 1;
  const rows = Array.from({ length: rowsIn(frame) }, (_, at) => at).toSorted((a, b) => {
    const [left, right] = [column.values[a] ?? '', column.values[b] ?? ''];
    return (
      sign *
      (typeof left === 'number' && typeof right === 'number'
        ? left - right
        : String(left).localeCompare(String(right), 'en', { numeric: true }))
    );
  });
  return picked(frame, rows);
}

function convert(frame: Frame, options: unknown): Frame {
  const wanted = new Map(
    objects(field(options, 'conversions')).map((one) => [
      text(one['targetField']),
      text(one['destinationType']),
    ]),
  );
  return {
    ...frame,
    fields: frame.fields.map((one): Field => {
      switch (wanted.get(one.name)) {
        case 'number':
          return {
            ...one,
            type: 'number',
            values: one.values.map((cell) => (cell === null ? null : Number(cell))),
          };
        case 'string':
          return {
            ...one,
            type: 'string',
            values: one.values.map((cell) => (cell === null ? null : String(cell))),
          };
        case 'time':
          return { ...one, type: 'time' };
        default:
          return one;
      }
    }),
  };
}

/** Labels become columns of the same text in each row. */
function labelsToFields(frame: Frame, options: unknown): Frame {
  const kept = namesOf(field(options, 'keepLabels'));
  const valueLabel = text(field(options, 'valueLabel'));
  const length = rowsIn(frame);
  const columns = new Map<string, string>();
  const fields = frame.fields.map(({ labels = {}, ...one }) => {
    for (const [name, value] of Object.entries(labels)) {
      if (
        name !== '__name__' &&
        name !== valueLabel &&
        (kept.length === 0 || kept.includes(name))
      ) {
        columns.set(name, value);
      }
    }
    return Object.hasOwn(labels, valueLabel) ? { ...one, name: labels[valueLabel]! } : one;
  });
  const added = [...columns].map(([name, value]): Field => ({
    name,
    type: 'string',
    values: Array.from({ length }, () => value),
  }));
  const isTime = ({ type }: Field): boolean => type === 'time';
  return {
    ...frame,
    fields: [...fields.filter(isTime), ...added, ...fields.filter((one) => !isTime(one))],
  };
}

function groupBy(frame: Frame, options: unknown): Frame {
  const wanted = field(options, 'fields');
  const of = (name: string): unknown => field(wanted, name);
  const keys = frame.fields.filter(({ name }) => field(of(name), 'operation') === 'groupby');
  if (keys.length === 0) {
    return frame;
  }
  const groups = new Map<string, number[]>();
  for (let row = 0; row < rowsIn(frame); row += 1) {
    const key = JSON.stringify(keys.map(({ values }) => values[row] ?? null));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const members = [...groups.values()];
  return {
    ...frame,
    fields: [
      ...keys.map((one) => ({ ...one, values: members.map(([row = 0]) => one.values[row]!) })),
      ...frame.fields.flatMap((one) =>
        field(of(one.name), 'operation') === 'aggregate'
          ? namesOf(field(of(one.name), 'aggregations')).map((name) =>
              aggregated(one, name, members),
            )
          : [],
      ),
    ],
  };
}

function aggregated(one: Field, name: string, members: readonly (readonly number[])[]): Field {
  const calc = calcOf(name) ?? 'last';
  const isNumber = one.type === 'number' || calc === 'count';
  return {
    name: `${one.name} (${name})`,
    type: isNumber ? 'number' : one.type,
    values: members.map((rows) =>
      isNumber
        ? (reduced(
            rows.map((row) => {
              const cell = one.values[row];
              return typeof cell === 'number' ? cell : calc === 'count' ? 0 : null;
            }),
            calc,
          ) ?? null)
        : (one.values[rows.at(calc === 'first' ? 0 : -1) ?? 0] ?? null),
    ),
  };
}

const isNumeric = (one: Field): boolean => one.type === 'number';
const numbersIn = (one: Field): (number | null)[] =>
  one.values.map((cell) => (typeof cell === 'number' ? cell : null));

function reduce(frames: readonly Frame[], options: unknown): readonly Frame[] {
  const calcs = namesOf(field(options, 'reducers')).flatMap((name) => calcOf(name) ?? []);
  const wanted = calcs.length === 0 ? (['max'] as const) : calcs;
  if (field(options, 'mode') === 'reduceFields') {
    return frames.map((frame) => ({
      ...frame,
      fields: frame.fields
        .filter(isNumeric)
        .map((one) => ({ ...one, values: [reduced(numbersIn(one), wanted[0]) ?? null] })),
    }));
  }
  const series = frames.flatMap(({ fields }) => fields.filter(isNumeric));
  const labels =
    field(options, 'labelsToFields') === true
      ? [...new Set(series.flatMap((one) => Object.keys(one.labels ?? {})))]
      : [];
  return [
    {
      ref: frames[0]?.ref ?? 'A',
      fields: [
        { name: 'Field', type: 'string', values: series.map(({ name }) => name) },
        ...labels.map((name): Field => ({
          name,
          type: 'string',
          values: series.map((one) => one.labels?.[name] ?? null),
        })),
        ...wanted.map((calc): Field => ({
          name: calcTitles[calc],
          type: 'number',
          values: series.map((one) => reduced(numbersIn(one), calc) ?? null),
        })),
      ],
    },
  ];
}

function seriesToRows(frames: readonly Frame[]): readonly Frame[] {
  const rows = frames.flatMap(({ fields }) => {
    const time = fields.find(({ type }) => type === 'time');
    return fields
      .filter(isNumeric)
      .flatMap((one) =>
        one.values.map((value, at) => ({ time: time?.values[at] ?? null, name: one.name, value })),
      );
  });
  return [
    {
      ref: frames[0]?.ref ?? 'A',
      fields: [
        { name: 'Time', type: 'time', values: rows.map(({ time }) => time) },
        { name: 'Metric', type: 'string', values: rows.map(({ name }) => name) },
        { name: 'Value', type: 'number', values: rows.map(({ value }) => value) },
      ],
    },
  ];
}
