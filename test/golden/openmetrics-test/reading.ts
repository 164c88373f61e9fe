import { isUtf8 } from 'node:buffer';

import { type Label, readExposition } from 'svc/query';
import { messageOf } from 'svc/sdk';

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

/** The samples of a text of OpenMetrics, or why it is refused. Characters up to 0xff of a text that is not UTF-8 are its bytes. */
export function read(text: string, bytes = false): ReadSample[] | string {
  const samples: Writable<ReadSample>[] = [];
  const series: Readonly<Record<string, string>>[] = [];
  const body = Buffer.from(text, bytes ? 'latin1' : 'utf8');
  if (!isUtf8(body)) {
    return 'it is not valid UTF-8';
  }
  try {
    readExposition(
      body,
      { openMetrics: true, refusal: (line, what) => new Error(`line ${line}: ${what}`) },
      {
        series: (labels) => series.push(Object.fromEntries(labels)) - 1,
        sample(at, value, time) {
          samples.push({ labels: series[at]!, value, time, exemplar: undefined });
        },
        exemplar(_at, labels: Label[], value, time) {
          const last = samples.at(-1)!;
          const own = time === last.time ? undefined : time;
          last.exemplar = { labels: Object.fromEntries(labels), value, time: own };
        },
      },
    );
    return samples;
  } catch (error) {
    return messageOf(error);
  }
}
