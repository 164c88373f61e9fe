import { labelsRecord } from 'svc/query';
import { messageOf } from 'svc/sdk';

import { readExposition } from '../../../plugins/metricsdb/store/intake/exposition.ts';
import type { Exemplar, Intake } from '../../../plugins/metricsdb/store/intake/intake.ts';

export interface ReadSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Milliseconds; undefined where the text says none. */
  readonly time: number | undefined;
  readonly exemplar:
    | {
        readonly labels: Readonly<Record<string, string>>;
        readonly value: number;
        readonly time: number | undefined;
      }
    | undefined;
}

type Writable<T> = { -readonly [key in keyof T]: T[key] };

const untold = -1;

/** The samples of a text of OpenMetrics, or why it is refused. Characters up to 0xff of a text that is not UTF-8 are its bytes. */
export function read(text: string, bytes = false): ReadSample[] | string {
  const samples: Writable<ReadSample>[] = [];
  const series: Readonly<Record<string, string>>[] = [];
  const intake: Partial<Record<keyof Intake, unknown>> = {
    seriesOfText: () => -1,
    remember: () => undefined,
    seriesOf: (pairs: readonly (readonly [string, string])[]) =>
      series.push(Object.fromEntries(pairs)) - 1,
    sample(slot: number, time: number, value: number) {
      samples.push({ labels: series[slot]!, value, time: timeOf(time), exemplar: undefined });
    },
    exemplar(_slot: number, { labels, value, time }: Exemplar) {
      const last = samples.at(-1)!;
      last.exemplar = {
        labels: { ...labelsRecord(labels) },
        value,
        time: time === (last.time ?? untold) ? undefined : time,
      };
    },
  };
  try {
    readExposition(
      Buffer.from(text, bytes ? 'latin1' : 'utf8'),
      { now: untold, open: true },
      intake as Intake,
      { note: () => undefined },
    );
    return samples;
  } catch (error) {
    return messageOf(error);
  }
}

const timeOf = (time: number): number | undefined => (time === untold ? undefined : time);
