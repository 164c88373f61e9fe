import type { TrialAnswer } from '../search/held-out.ts';

/** Weights of similarity that are tried; 0 is words alone, 1 gives both the same say. */
export const weights: readonly number[] = [0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.7, 1];

/** Below this number, what helps cannot be told from chance. */
export const leastTrials = 24;

/** Standard errors that a gain must exceed. */
const certain = 2.5;

/**
 * Returns the smallest weight with which documents are found about as early as with the best one, or
 * 0 unless more questions gain from it than lose, by more than chance and in both halves of them.
 */
export function weightFrom(places: readonly TrialAnswer[]): number {
  if (places.length < leastTrials) {
    return 0;
  }
  const gains = weights.map((_, at) => gainOf(places, at));
  const best = gains.reduce((top, gain) => (gain.mean > top.mean ? gain : top));
  const at = gains.findIndex(({ mean }) => mean >= best.mean - best.error / 2);
  const isSure = (part: readonly TrialAnswer[], errors: number): boolean => {
    const { mean, error } = gainOf(part, at);
    return mean > 0 && mean >= errors * error && foundFirst(part, at) >= foundFirst(part, 0);
  };
  const half = (odd: number): readonly TrialAnswer[] =>
    // Mostly both questions of a document are in the same half.
    places.filter((_, index) => (index >> 1) % 2 === odd);
  const helps = isSure(places, certain) && isSure(half(0), 0) && isSure(half(1), 0);
  return helps ? weights[at]! : 0;
}

/** Returns the share of questions whose document is among the first three. */
export const foundFirst = (places: readonly TrialAnswer[], at: number): number =>
  places.length === 0
    ? 0
    : places.filter((trial) => trial[at]!.place > 0 && trial[at]!.place <= 3).length /
      places.length;

/** Returns how much earlier documents are found than by words alone, with its standard error. */
function gainOf(
  places: readonly TrialAnswer[],
  at: number,
): { readonly mean: number; readonly error: number } {
  const gains = places.map((trial) => trial[at]!.worth - trial[0]!.worth);
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / Math.max(1, gains.length);
  const spread = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0);
  return { mean, error: Math.sqrt(spread) / Math.max(1, gains.length) };
}
