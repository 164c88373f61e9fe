/** Settles like `work`, or rejects with `late()` after `ms`. */
export function withDeadline<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    // Work that never ends must not keep a stopped process alive until its deadline.
    timer.unref();
    void work.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
