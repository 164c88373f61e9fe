import type { Facts, Measured, Order } from '../model/check.ts';
import type { Means } from '../wire/conversation.ts';
import { plain } from '../model/plain-text.ts';

/** Highest exit code by which a plugin says how something is: 0 OK, 1 WARNING, 2 CRITICAL. */
const lastSaying = 2;
const maxMeasured = 50;
const maxDetail = 300;
const maxLabel = 100;

/** Runs a command of the place, which says how something is as plugins of Nagios do. */
export async function probeCommand({
  order,
  place: { command },
  watch,
  signal,
}: Means): Promise<Partial<Facts>> {
  if (command === undefined) {
    throw new Error('no commands run here');
  }
  const { code, output } = await command(order.target, signal);
  signal.throwIfAborted();
  watch.end('processing');
  return { status: code, ...saidOf(output) };
}

/** Returns whether an exit code says nothing about the target: UNKNOWN, or none that plugins agree on. */
export const isUnsaid = ({ conditions }: Pick<Order, 'conditions'>, code: number): boolean =>
  conditions.length === 0 && !(code >= 0 && code <= lastSaying);

/** Takes apart what a plugin prints: text, then `|` and what it measured, on the first line and from a later one on. */
export function saidOf(output: string): Pick<Facts, 'body' | 'body_bytes' | 'detail' | 'measured'> {
  const [first = '', ...rest] = output.trimEnd().split('\n');
  const [detail, measured] = halves(first);
  const [more, measuredMore] = halves(rest.join('\n'));
  return {
    body: more === '' ? detail.trim() : `${detail.trim()}\n${more}`,
    body_bytes: Buffer.byteLength(output),
    detail: plain(detail).slice(0, maxDetail),
    measured: measuredIn(`${measured} ${measuredMore}`),
  };
}

const halves = (text: string): readonly [string, string] => {
  const at = text.indexOf('|');
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};

/** `'label'=value[unit];warn;crit;min;max`, separated by spaces; what has another form is left out. */
function measuredIn(text: string): readonly Measured[] {
  const found = text.matchAll(
    /(?:'((?:[^']|'')+)'|([^\s='|]+))=(-?\d+(?:\.\d+)?)([a-zA-Z%]{0,8})(?=[;\s]|$)[^\s]*/g,
  );
  const measured: Measured[] = [];
  for (const [, quoted, bare, value, unit] of found) {
    const label = plain((quoted?.replaceAll("''", "'") ?? bare!).slice(0, maxLabel));
    if (label !== '' && !measured.some((one) => one.label === label)) {
      measured.push({ label, value: Number(value), unit: unit! });
    }
    if (measured.length === maxMeasured) {
      break;
    }
  }
  return measured;
}
