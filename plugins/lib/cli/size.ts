const steps = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1.4 MiB`. */
export function sizeOf(bytes: number): string {
  const step = Math.min(steps.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** step;
  return `${step === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${steps[step]}`;
}
