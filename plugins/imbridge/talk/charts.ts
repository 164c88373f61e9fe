import { chartPicture, type Line } from 'svc/chart-picture';
import type { RunEvent } from 'svc/contracts/chat';
import type { ChannelMessage } from 'svc/contracts/notify';

import type { Said } from './commands.ts';
import type { Messenger } from '../messages/messenger.ts';
import type { Posted } from '../store/message-store.ts';
import type { AppRow } from '../store/tables.ts';

/** A chart of what an agent has measured, before it is drawn. */
interface Measured {
  readonly caption: string;
  readonly lines: readonly Line[];
}

export interface ChartParts {
  readonly messenger: Messenger;
  /** Does something for which nobody waits. */
  readonly later: (work: () => Promise<void>) => void;
}

type Json = Readonly<Record<string, unknown>>;

/** Max charts of an answer: the last ones, as in the console. */
const maxCharts = 4;
const longestQuery = 400;
const longestTitle = 600;

/** Charts of what an agent has asked of its tools over time, gathered from the events of its run. */
export class MeasuredCharts {
  readonly #queries = new Map<string, string>();
  readonly #found: Measured[] = [];

  add({ type, data }: RunEvent): void {
    const call = String(data['toolCallId']);
    const { query } = objectOf(data['input']);
    if (type === 'tool-input-available' && data['toolName'] === 'metrics_range') {
      this.#queries.set(call, String(query));
    } else if (type === 'tool-output-available' && this.#queries.has(call)) {
      const measured = measuredIn(this.#queries.get(call)!, data['output']);
      this.#found.push(...(measured === undefined ? [] : [measured]));
    }
  }

  get last(): readonly Measured[] {
    return this.#found.slice(-maxCharts);
  }
}

/** Returns what a call has found, drawn as the agent has seen it; undefined for a result that was too large to be given whole. */
function measuredIn(query: string, output: unknown): Measured | undefined {
  const { from, to, series } = objectOf(objectOf(output)['result']);
  const lines = (Array.isArray(series) ? series : [])
    .map((one) => objectOf(one)['points'])
    .filter(isLine)
    .map((points) => points.map(([seconds, value]) => [seconds * 1_000, value] as const));
  return lines.length === 0
    ? undefined
    : { lines, caption: `${query.slice(0, longestQuery)}, ${String(from)} to ${String(to)}` };
}

const isLine = (points: unknown): points is readonly (readonly [number, number])[] =>
  Array.isArray(points) &&
  points.length > 1 &&
  points.every(
    (point) => Array.isArray(point) && point.every((number) => typeof number === 'number'),
  );

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {};

/** Sends what an answer has measured as pictures below it, once; they hold up neither it nor what comes after it. */
export async function showCharts(
  { messenger, later }: ChartParts,
  { app, message }: Said,
  measured: MeasuredCharts,
  posted: Posted,
): Promise<void> {
  const { id, conversation } = message.row;
  if (posted.pictured === true || measured.last.length === 0) {
    return;
  }
  // Noted before, as pictures that are missing do less harm than pictures that come twice.
  await message.keep({ sent: JSON.stringify({ ...posted, pictured: true }) });
  later(async () => {
    for (const [at, { caption, lines }] of measured.last.entries()) {
      const bytes = chartPicture({ lines });
      if (bytes !== undefined) {
        const name = `chart-${id.slice(-8)}-${at + 1}.png`;
        const key = `${id}.chart${at + 1}`;
        const picture = { name, caption, bytes, key, again: false };
        await messenger.picture(app, conversation, posted.thread, picture);
      }
    }
  });
}

/** Sends the last hour of what has raised an incident as a picture, below its notice. */
export async function showLastHour(
  { messenger }: ChartParts,
  app: AppRow,
  conversation: string,
  { delivery_id: id, title, chart }: ChannelMessage,
  { thread }: Posted,
): Promise<void> {
  const bytes = chart?.png();
  if (bytes !== undefined) {
    const [name, key] = [`chart-${id.slice(-8)}.png`, `${id}.chart`];
    const caption = `${title.slice(0, longestTitle)}: the last hour`;
    await messenger.picture(app, conversation, thread, { name, caption, bytes, key, again: true });
  }
}
