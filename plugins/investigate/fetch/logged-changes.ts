import type { Change, ChangeKind } from 'svc/rca';

import type { Found } from './gatherer.ts';
import type { Lines } from './log-sources.ts';
import { deviceNode } from './symptom.ts';

const minuteMs = 60_000;

/**
 * Patterns of lines that report changes. Jobs are queried separately: they could be so many that
 * nothing else would be read.
 */
export const loggedForms: readonly string[] = [
  'CRON\\[\\d+\\]: .* CMD',
  'unattended-upgrade|(?:^| )(?:upgrade|install|remove) [\\w.+-]+(?::\\w+)? |systemd\\[1\\]: (?:Started|Stopped|Reloaded|Restarted) ',
];

/**
 * Description of a line without its time and process id, which would make the same event look new
 * each time.
 */
const forms: readonly (readonly [RegExp, ChangeKind])[] = [
  [/CRON\[\d+\]: (.*CMD.*)/, 'cron'],
  [/(unattended-upgrade.*)/, 'package'],
  [/(?:^| )((?:upgrade|install|remove) [\w.+-]+.*)/, 'package'],
  [/systemd\[1\]: (.*)/, 'restart'],
];

const longest = 200;
/** Occurrences within the hour read from which on an event is periodic. */
const often = 3;
/** Max age of the start of a periodic event that counts as news. */
const freshMs = 10 * minuteMs;

/** Changes that machines write into their logs: jobs, packages, units that were started and stopped. */
export function loggedChanges(
  { id, value, truncated = false }: Found,
  firedAt: number,
): readonly Change[] {
  const found = (value as Lines).lines.flatMap(
    ({ at, line, labels: { device_id: device } }, index): readonly Change[] => {
      const [title, kind] = toldIn(line) ?? [];
      return kind === undefined || device === undefined
        ? []
        : [
            {
              id: `${id}:${index}`,
              evidence: id,
              at,
              kind,
              node: deviceNode(device),
              title: title!,
            },
          ];
    },
  );
  const same = new Map<string, Change[]>();
  for (const change of found) {
    const key = `${change.node} ${change.kind} ${change.title.replaceAll(/\d+/g, '0')}`;
    same.set(key, [...(same.get(key) ?? []), change]);
  }
  return [...same.values()].flatMap((times) => newsIn(times, firedAt, truncated));
}

function toldIn(line: string): readonly [string, ChangeKind] | undefined {
  for (const [form, kind] of forms) {
    const words = form.exec(line)?.[1];
    if (words !== undefined) {
      return [
        words
          .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
          .trim()
          .slice(0, longest),
        kind,
      ];
    }
  }
  return undefined;
}

/**
 * Returns the changes that are news. What recurs every few minutes is a host's rhythm and no
 * change; but if it has just begun, its start is one.
 */
function newsIn(times: readonly Change[], firedAt: number, truncated: boolean): readonly Change[] {
  const first = times.reduce((one, other) => (other.at < one.at ? other : one));
  if (times.length < often || first.kind === 'package') {
    return times;
  }
  return truncated || first.at < firedAt - freshMs
    ? []
    : [{ ...first, title: `${first.title} (${times.length} times since)` }];
}
