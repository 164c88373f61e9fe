import type { Clock, Scope } from 'svc/sdk';

/** Time and timers for what usually has those of a plugin. */
export function bench() {
  const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const timers = new Set<NodeJS.Timeout>();
  const abort = new AbortController();
  const scope: Pick<Scope, 'timeout' | 'signal'> = {
    signal: abort.signal,
    timeout(_label, ms, tick) {
      const timer = setTimeout(() => void tick(abort.signal), ms);
      timers.add(timer);
      return () => clearTimeout(timer);
    },
  };
  return {
    clock,
    scope,
    end: () => {
      abort.abort();
      timers.forEach((timer) => clearTimeout(timer));
    },
  };
}
