import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BelievedClock } from 'svc/flow';
import { messageOf, type PluginContext } from 'svc/sdk';

const everyMs = 60_000;
/** Max adjustment of the clock that is accepted immediately. */
const toleranceMs = 60_000;

/**
 * Returns the clock by which sessions and tokens age: a wall clock that is wrong at a start, or is
 * set while svc runs, must not sign anybody out. Its time is stored every minute, for the next
 * start.
 */
export function believedClock({
  clock,
  scope,
  dataDir,
  log,
}: Pick<PluginContext, 'clock' | 'scope' | 'dataDir' | 'log'>): BelievedClock {
  const file = join(dataDir, 'last-seen');
  const believed = new BelievedClock(clock, { lastSeen: readNumber(file), toleranceMs });
  if (believed.isDoubted) {
    log.warn(
      { event: 'session.clock_doubted', believed: believed.now(), clock: clock.now() },
      'clock differs from the last known time by more than a day; using the last known time for sessions and tokens for an hour; check the clock',
    );
  }
  const note = (): void => {
    if (!believed.isDoubted) {
      try {
        writeFileSync(`${file}.tmp`, String(Math.floor(believed.now())), { mode: 0o600 });
        renameSync(`${file}.tmp`, file);
      } catch (error) {
        log.debug(
          { cause: messageOf(error) },
          'failed to store the current time; retrying in a minute',
        );
      }
    }
  };
  scope.interval('note the time', everyMs, note);
  scope.defer('note the time', note);
  return believed;
}

function readNumber(file: string): number | undefined {
  try {
    const time = Number(readFileSync(file, 'utf8'));
    return Number.isFinite(time) && time > 0 ? time : undefined;
  } catch {
    // The first start, or a folder that was put together by hand: then the clock has to be believed.
    return undefined;
  }
}
