import type { Candidate, Ranked } from './ranking.ts';

/** Chunk that is similar to a question, with its cosine. */
export interface Similar {
  readonly candidate: Candidate;
  readonly similarity: number;
}

/**
 * Fuses both orders: the score of the words, plus that of the similarity times its weight. What the
 * words find well stays in front of what is merely similar; weight 0 leaves their order as it is.
 */
export function fused(
  lexical: readonly Ranked[],
  similar: readonly Similar[],
  weight: number,
): readonly Ranked[] {
  if (lexical.length === 0) {
    return bestOfEach(similar).map(({ candidate, similarity }) => ({
      candidate,
      score: Math.min(1, Math.max(0, similarity)),
      fit: 1,
    }));
  }
  if (weight === 0) {
    return lexical;
  }
  const near = shareOf(bestOfEach(similar));
  const docs = new Map<number, Ranked>();
  const further: Ranked[] = [];
  for (const { candidate, score, fit } of lexical) {
    const share = near.get(candidate.doc)?.share ?? 0;
    if (docs.has(candidate.doc)) {
      further.push({ candidate, fit, score: score / (1 + weight) });
    } else {
      docs.set(candidate.doc, {
        candidate,
        fit,
        score: (score + weight * share) / (1 + weight),
      });
    }
  }
  for (const [doc, { candidate, share }] of near) {
    if (!docs.has(doc)) {
      docs.set(doc, { candidate, fit: 1, score: (weight * share) / (1 + weight) });
    }
  }
  const firsts = [...docs.values()].sort(
    (a, b) => b.score - a.score || a.candidate.chunk - b.candidate.chunk,
  );
  return [...firsts, ...further];
}

/** Returns the most similar chunk of each document, in their order. */
function bestOfEach(similar: readonly Similar[]): readonly Similar[] {
  const docs = new Map<number, Similar>();
  for (const one of similar) {
    if (!docs.has(one.candidate.doc)) {
      docs.set(one.candidate.doc, one);
    }
  }
  return [...docs.values()];
}

/**
 * Returns how far each document stands out among the neighbours, from 0 for the last to 1 for the
 * first: the cosine alone means something else with every model.
 */
function shareOf(
  best: readonly Similar[],
): ReadonlyMap<number, { readonly candidate: Candidate; readonly share: number }> {
  const [top, floor] = [best[0]?.similarity ?? 0, best.at(-1)?.similarity ?? 0];
  return new Map(
    best.map(({ candidate, similarity }) => [
      candidate.doc,
      { candidate, share: top === floor ? 1 : (similarity - floor) / (top - floor) },
    ]),
  );
}
