const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Runs `work` when the signal aborts. One listener for all: a signal looks through those it has at each that comes or goes. */
export function onRetirement(signal: AbortSignal, work: () => void): () => void {
  let all = waiting.get(signal);
  if (!all) {
    const told = new Set<() => void>();
    all = told;
    waiting.set(signal, told);
    signal.addEventListener('abort', () => told.forEach((tell) => tell()), { once: true });
  }
  all.add(work);
  return () => void all.delete(work);
}
