import type { FeedbackRow } from './run-store.ts';

const worth: Readonly<Record<FeedbackRow['verdict'], number>> = { right: 1, partly: 0.5, wrong: 0 };
/** With fewer of them a figure would only look exact. */
export const leastLabelled = 30;
export const mostLabelled = 2_000;

/** How often reports of a confidence were right, as far as people have said so; rises with the confidence and never falls. */
export interface Calibration {
  readonly labelled: number;
  /** Undefined until enough is known. */
  of(confidence: number): number | undefined;
}

interface Block {
  readonly from: number;
  readonly sum: number;
  readonly count: number;
}

/** Isotonic: neighbours that contradict the order are one block, whose value is the mean of what people have said. */
export function calibrationOf(labels: readonly { readonly confidence: number; readonly verdict: FeedbackRow['verdict'] }[]): Calibration {
  const sorted = labels.toSorted((a, b) => a.confidence - b.confidence);
  const blocks: Block[] = [];
  for (const { confidence, verdict } of sorted) {
    let block: Block = { from: confidence, sum: worth[verdict], count: 1 };
    for (let last = blocks.at(-1); last !== undefined && (last.sum / last.count >= block.sum / block.count || last.from === block.from); last = blocks.at(-1)) {
      blocks.pop();
      block = { from: last.from, sum: last.sum + block.sum, count: last.count + block.count };
    }
    blocks.push(block);
  }
  return {
    labelled: labels.length,
    of(confidence) {
      if (labels.length < leastLabelled) {
        return undefined;
      }
      const block = blocks.findLast(({ from }) => from <= confidence) ?? blocks[0]!;
      // No few reports make a certainty, whatever they say.
      return Math.min(0.97, Math.max(0.03, block.sum / block.count));
    },
  };
}

export const levelOf = (value: number): 'low' | 'medium' | 'high' => (value >= 0.75 ? 'high' : value >= 0.5 ? 'medium' : 'low');
