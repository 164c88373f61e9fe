/** Tries of one delivery; interrupted ones do not count. */
export const mostTries = 5;

const waitsMs = [5_000, 15_000, 45_000, 135_000];
const jitter = 0.2;

/** The wait after a try, of which `random` in [0, 1) moves a fifth up or down; what the platform asks for is obeyed to the letter. */
export function waitAfter(tries: number, askedMs: number | undefined, random: number): number {
  if (askedMs !== undefined) {
    return askedMs;
  }
  const usual = waitsMs[Math.min(Math.max(tries, 1), waitsMs.length) - 1]!;
  return Math.round(usual * (1 - jitter + 2 * jitter * random));
}
