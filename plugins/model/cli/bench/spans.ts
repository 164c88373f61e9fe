import { createHash } from 'node:crypto';

import type { World } from './world.ts';
import { offsetOf } from './world.ts';

interface Span {
  readonly service: string;
  readonly name: string;
  readonly ms: number;
  readonly failed: string | undefined;
  readonly depth: number;
}

/** Returns the traces of a world as OTLP exports, one each. */
export const exportsOf = ({ name: world, traces = [] }: World, now: number): readonly object[] =>
  traces.map(([at, lines], index) =>
    exportOf(lines.map(spanOf), now + offsetOf(at), hash(`${world} ${index}`).slice(0, 32)),
  );

function spanOf(line: string): Span {
  const depth = Math.floor(/^ */.exec(line)![0].length / 2);
  const [service = '', name = '', ms = '0', failed] = line.trim().split(' | ');
  return { service, name, ms: Number(ms), failed, depth };
}

function exportOf(spans: readonly Span[], began: number, trace: string): object {
  const ids = spans.map((_, at) => hash(`${trace} ${at}`).slice(0, 16));
  const parent = (at: number): number =>
    spans.findLastIndex(({ depth }, index) => index < at && depth === spans[at]!.depth - 1);
  return {
    resourceSpans: spans.map(({ service, name, ms, failed, depth }, at) => ({
      resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
      scopeSpans: [
        {
          spans: [
            {
              traceId: trace,
              spanId: ids[at],
              ...(parent(at) >= 0 && { parentSpanId: ids[parent(at)] }),
              name,
              kind: depth === 0 ? 2 : 3,
              startTimeUnixNano: nanos(began + depth),
              endTimeUnixNano: nanos(began + depth + ms),
              status: failed === undefined ? {} : { code: 2, message: failed },
            },
          ],
        },
      ],
    })),
  };
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const nanos = (ms: number): string => `${Math.round(ms)}000000`;
