import { type Labels, labelsKey } from 'svc/query';

import type { FoundLine } from './page.ts';

export interface FoundStream {
  readonly labels: Labels;
  readonly lines: readonly FoundLine[];
}

/** The lines of a page, by their label sets; each in the order of the page. */
export function streamsOf(lines: readonly FoundLine[]): FoundStream[] {
  const streams = new Map<string, { labels: Labels; lines: FoundLine[] }>();
  for (const line of lines) {
    const key = labelsKey(line.labels);
    const stream = streams.get(key) ?? { labels: line.labels, lines: [] };
    streams.set(key, stream);
    stream.lines.push(line);
  }
  return [...streams.values()];
}
