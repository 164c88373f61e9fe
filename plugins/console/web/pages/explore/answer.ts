import { nameOf } from '../../kit/chart/matrix.ts';

type Sample = readonly [number, string];
type Labels = Readonly<Record<string, string>>;

/** Answer of the store to a query of one moment. */
export interface Answer {
  readonly data:
    | {
        readonly resultType: 'vector';
        readonly result: readonly { readonly metric: Labels; readonly value: Sample }[];
      }
    | { readonly resultType: 'scalar' | 'string'; readonly result: Sample }
    | {
        readonly resultType: 'matrix';
        readonly result: readonly {
          readonly metric: Labels;
          readonly values: readonly Sample[];
        }[];
      };
}

/** Returns the label sets of an answer. */
export const labelsIn = (answer: Answer | undefined): readonly Labels[] =>
  answer?.data.resultType === 'vector' || answer?.data.resultType === 'matrix'
    ? answer.data.result.map(({ metric }) => metric)
    : [];

export interface Row {
  readonly name: string;
  readonly value: number;
}

/** Returns the series of an answer with their values, the highest first. */
export function rowsOf({ data }: Answer): readonly Row[] {
  switch (data.resultType) {
    case 'vector':
      return data.result
        .map(({ metric, value }) => ({
          name: nameOf({ expr: '' }, metric) || '{}',
          value: Number(value[1]),
        }))
        .toSorted((a, b) => b.value - a.value);
    case 'matrix':
      return data.result.map(({ metric, values }) => ({
        name: nameOf({ expr: '' }, metric) || '{}',
        value: Number(values.at(-1)?.[1]),
      }));
    case 'scalar':
    case 'string':
      return [{ name: data.resultType, value: Number(data.result[1]) }];
  }
}
