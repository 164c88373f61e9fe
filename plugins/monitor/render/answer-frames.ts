import type { LabelRecord } from 'svc/contracts/metricsdb';

import type { Field, Frame } from '../frames/frame.ts';
import type { PanelBody } from '../model/panel.ts';
import type { Answered } from './answered.ts';
import { nameOf, type NameOfDevice } from './names.ts';

interface Series {
  readonly labels: LabelRecord;
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** Returns the answers of a panel as frames: one for each table, and one for each series. */
export function framesOf(
  answers: readonly Answered[],
  panel: PanelBody,
  device: NameOfDevice,
): readonly Frame[] {
  return answers.flatMap(({ query, answer }) => {
    const series = answer === undefined ? [] : seriesOf(answer);
    const value = answers.length > 1 ? `Value #${query.ref}` : 'Value';
    return query.format === 'table'
      ? [tableOf(series, query.ref, value)]
      : series.map((one) => seriesFrame(one, query.ref, query.legend ?? '', panel, device));
  });
}

function seriesOf(answer: NonNullable<Answered['answer']>): readonly Series[] {
  switch (answer.type) {
    case 'matrix':
      return answer.labels.map((labels, at) => ({
        labels,
        times: [...answer.times[at]!],
        values: [...answer.values[at]!],
      }));
    case 'vector':
      return answer.labels.map((labels, at) => ({
        labels,
        times: [answer.times[at]!],
        values: [answer.values[at]!],
      }));
    case 'scalar':
      return [{ labels: {}, times: [answer.time], values: [answer.value] }];
    default:
      return [];
  }
}

/** A row for each sample, a column for each label. */
function tableOf(series: readonly Series[], ref: string, value: string): Frame {
  const names = [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))].sort();
  const each = <T>(of: (one: Series, at: number) => T): T[] =>
    series.flatMap((one) => one.values.map((_, at) => of(one, at)));
  return {
    ref,
    fields: [
      { name: 'Time', type: 'time', values: each(({ times }, at) => times[at]!) },
      ...names.map((name): Field => ({
        name,
        type: 'string',
        values: each(({ labels }) => (Object.hasOwn(labels, name) ? labels[name]! : null)),
      })),
      { name: value, type: 'number', values: each(({ values }, at) => values[at]!) },
    ],
  };
}

const seriesFrame = (
  { labels, times, values }: Series,
  ref: string,
  legend: string,
  { type }: PanelBody,
  device: NameOfDevice,
): Frame => ({
  ref,
  fields: [
    { name: 'Time', type: 'time', values: times },
    {
      name: legend === '' && type === 'table' ? 'Value' : nameOf(labels, legend, device),
      type: 'number',
      labels,
      values,
    },
  ],
});
