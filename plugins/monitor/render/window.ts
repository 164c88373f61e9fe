import { parseDuration } from 'svc/query';

import { refuse } from '../model/panel.ts';

/**
 * Window in milliseconds. Start and end are multiples of the step, so that requesting the same
 * window twice yields the same.
 */
export interface Window {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

export interface AskedWindow {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly step?: string | undefined;
}

export const mostPoints = 600;
const hour = 3_600_000;
const longest = 400 * 24 * hour;
const second = 1_000;
const nice = [
  1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_200, 1_800, 3_600, 7_200, 10_800, 21_600,
  43_200, 86_400,
].map((length) => length * second);

/** Returns the requested window, with a step that yields at most 600 points per series. */
export function windowOf(
  { from: askedFrom, to: askedTo, step: askedStep }: AskedWindow,
  now: number,
  sampleInterval: number,
): Window {
  const to = askedTo === undefined ? now : instantOf(askedTo, now, '/to');
  const from = askedFrom === undefined ? to - hour : instantOf(askedFrom, now, '/from');
  if (from >= to) {
    refuse({ path: '/from', message: 'from must come before to' });
  }
  if (to - from > longest) {
    refuse({ path: '/from', message: 'a dashboard shows at most 400 days' });
  }
  const least = Math.ceil((to - from) / (mostPoints - 1));
  const wanted = askedStep === undefined ? sampleInterval : stepOf(askedStep);
  const step =
    wanted >= least
      ? wanted
      : (nice.find((length) => length >= least) ?? Math.ceil(least / 86_400_000) * 86_400_000);
  return {
    from,
    to,
    start: Math.floor(from / step) * step,
    end: Math.floor(to / step) * step,
    step,
  };
}

const relative = /^now(?:([+-])((?:\d+(?:ms|[smhdwy]))+))?$/;
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

function instantOf(text: string, now: number, path: string): number {
  const [, sign, duration] = relative.exec(text) ?? [];
  const ms =
    text === 'now'
      ? now
      : duration !== undefined
        ? now + (sign === '-' ? -1 : 1) * parseDuration(duration)
        : iso.test(text)
          ? Date.parse(text)
          : /^\d{1,11}(?:\.\d{1,9})?$/.test(text)
            ? Math.round(Number(text) * second)
            : /^\d{12,14}$/.test(text)
              ? Number(text)
              : Number.NaN;
  if (!(ms >= 0 && ms < 8e15)) {
    refuse({
      path,
      message: 'is not a time: write RFC 3339, seconds or milliseconds since 1970, or now-6h',
    });
  }
  return ms;
}

function stepOf(text: string): number {
  const seconds = /^\d{1,9}(?:\.\d{1,3})?$/.test(text) ? Number(text) * second : undefined;
  const step = seconds ?? (/^(?:\d+(?:ms|[smhdwy]))+$/.test(text) ? parseDuration(text) : 0);
  if (step < second) {
    refuse({
      path: '/step',
      message: 'a step is a duration such as 30s, or seconds, and at least one second',
    });
  }
  return Math.round(step);
}
